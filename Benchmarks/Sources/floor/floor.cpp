// libcurl in a bare loop on one thread with CurlSession's options, and simdjson into structs: the lower bound for any
// client over libcurl. The first command measures a cell as `bench http` does, the second makes one typed GET:
//
//     floor http --peer libcurl[+decode] --url BASE --in-flight N --seconds S --warm-up S --expect FILE [--post FILE]
//     floor once URL
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

// Copied from curl/curl.h, so that its headers need not be installed.
enum {
    CURLOPT_WRITEDATA = 10001, CURLOPT_PROXY = 10004, CURLOPT_POSTFIELDS = 10015,
    CURLOPT_HTTPHEADER = 10023, CURLOPT_POSTFIELDSIZE = 60, CURLOPT_HTTP_VERSION = 84, CURLOPT_BUFFERSIZE = 98,
    CURLOPT_NOSIGNAL = 99, CURLOPT_ACCEPT_ENCODING = 10102, CURLOPT_PRIVATE = 10103, CURLOPT_CONNECTTIMEOUT_MS = 156,
    CURLOPT_NOPROXY = 10177, CURLOPT_PROTOCOLS = 181, CURLOPT_PATH_AS_IS = 234, CURLOPT_CURLU = 10282,
    CURLOPT_WRITEFUNCTION = 20011, CURLOPT_HEADERFUNCTION = 20079, CURLOPT_PREREQFUNCTION = 20312, CURLMOPT_MAXCONNECTS = 6,
    CURLINFO_PRIVATE = 0x100000 + 21, CURLINFO_RESPONSE_CODE = 0x200000 + 2,
};

struct Message {
    int kind;
    void *easy;
    union { void *pointer; int result; } data;
};

extern "C" {
void *curl_easy_init(), *curl_multi_init(), *curl_url(), *curl_slist_append(void *, const char *);
int curl_url_set(void *, int, const char *, unsigned);
int curl_easy_setopt(void *, int, ...), curl_easy_getinfo(void *, int, ...), curl_multi_setopt(void *, int, ...);
int curl_multi_add_handle(void *, void *), curl_multi_remove_handle(void *, void *);
int curl_multi_perform(void *, int *), curl_multi_poll(void *, void *, unsigned, int, int *);
Message *curl_multi_info_read(void *, int *);
}

// MARK: Decoding

#ifdef HAS_SIMDJSON
#include <optional>
#include <simdjson.h>

struct Movie {
    int64_t id, vote_count;
    std::string title, original_title, original_language, overview, release_date;
    std::optional<std::string> poster_path, backdrop_path;
    std::vector<int64_t> genre_ids;
    double popularity, vote_average;
    bool adult, video;
};

struct Page {
    int64_t page, total_pages, total_results;
    std::vector<Movie> results;
};

static std::string text(simdjson::ondemand::value value) { return std::string(value.get_string().value()); }

static std::optional<std::string> text_or_null(simdjson::ondemand::value value) {
    if (value.is_null().value()) return std::nullopt;
    return text(value);
}

// Reads the members in the order of the pages, which is the fastest. Each other order works too.
static Page decode(std::string &body) {
    static simdjson::ondemand::parser parser;
    body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
    auto document = parser.iterate(body.data(), body.size(), body.capacity()).value();
    auto root = document.get_object().value();
    Page page;
    page.page = root["page"];
    for (simdjson::ondemand::object item : root["results"].get_array()) {
        Movie &movie = page.results.emplace_back();
        movie.adult = item["adult"];
        movie.backdrop_path = text_or_null(item["backdrop_path"]);
        for (int64_t genre : item["genre_ids"].get_array()) movie.genre_ids.push_back(genre);
        movie.id = item["id"];
        movie.original_language = text(item["original_language"]);
        movie.original_title = text(item["original_title"]);
        movie.overview = text(item["overview"]);
        movie.popularity = item["popularity"];
        movie.poster_path = text_or_null(item["poster_path"]);
        movie.release_date = text(item["release_date"]);
        movie.title = text(item["title"]);
        movie.video = item["video"];
        movie.vote_average = item["vote_average"];
        movie.vote_count = item["vote_count"];
    }
    page.total_pages = root["total_pages"];
    page.total_results = root["total_results"];
    return page;
}
static size_t movies(std::string &body) { return decode(body).results.size(); }
#else
static size_t movies(std::string &) { throw std::runtime_error("built without simdjson"); }
#endif

// MARK: The loop

using Clock = std::chrono::steady_clock;

static double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

struct Call {
    void *easy;
    std::string body;
    Clock::time_point start;
};

struct Request {
    std::string url, body;
    bool is_post;
};

static size_t take(char *data, size_t size, size_t count, void *body) {
    static_cast<std::string *>(body)->append(data, size * count);
    return size * count;
}

static size_t take_line(char *, size_t size, size_t count, void *) { return size * count; }
static int accept_request(void *, char *, char *, int, int) { return 0; }

class Loop {
    void *multi = curl_multi_init();
    std::vector<Call> calls;

public:
    Loop(const Request &request, int in_flight) : calls(in_flight) {
        void *headers = nullptr;
        for (auto line : {"Accept: application/json", "User-Agent: libcurl"}) headers = curl_slist_append(headers, line);
        if (request.is_post)
            for (auto line : {"Content-Type: application/json", "Expect:"}) headers = curl_slist_append(headers, line);
        void *url = curl_url();
        check(curl_url_set(url, 0, request.url.c_str(), 0));
        curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, long(in_flight));
        for (Call &call : calls) {
            void *easy = call.easy = curl_easy_init();
            curl_easy_setopt(easy, CURLOPT_PRIVATE, &call);
            curl_easy_setopt(easy, CURLOPT_CURLU, url);
            curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
            curl_easy_setopt(easy, CURLOPT_PROTOCOLS, 3L);
            curl_easy_setopt(easy, CURLOPT_PROXY, "");
            curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
            curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
            curl_easy_setopt(easy, CURLOPT_WRITEDATA, &call.body);
            curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_line);
            curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, accept_request);
            curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
            curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
            curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, 2L);
            curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
            curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 32768L);
            curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, 30000L);
            if (!request.is_post) continue;
            curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, long(request.body.size()));
            curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
        }
    }

    /// Makes calls with the number in flight until `again(call)` returns false for all of them. Passes each response.
    template <typename Again> void run(Again again) {
        for (Call &call : calls) begin(call);
        int running = int(calls.size());
        while (running > 0) {
            check(curl_multi_perform(multi, &running));
            Message *message;
            int left, ended = 0;
            while ((message = curl_multi_info_read(multi, &left))) {
                Call *call;
                long status;
                check(message->data.result);
                curl_easy_getinfo(message->easy, CURLINFO_PRIVATE, &call);
                curl_easy_getinfo(message->easy, CURLINFO_RESPONSE_CODE, &status);
                if (status != 200) throw std::runtime_error("the status is " + std::to_string(status));
                curl_multi_remove_handle(multi, call->easy);
                ended++;
                if (again(*call)) begin(*call), running++;
            }
            if (!ended) check(curl_multi_poll(multi, nullptr, 0, 1000, nullptr));
        }
    }

private:
    void begin(Call &call) {
        call.body.clear();
        call.start = Clock::now();
        check(curl_multi_add_handle(multi, call.easy));
    }

    static void check(int code) {
        if (code != 0) throw std::runtime_error("libcurl's error " + std::to_string(code));
    }
};

// MARK: Measuring

static double cpu_microseconds() {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 + double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static std::string contents(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

static long peak_kibibytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
    return 0;
}

static void measure(std::map<std::string, std::string> options) {
    std::string expected = contents(options.at("--expect"));
    bool decodes = options.at("--peer") == "libcurl+decode", is_post = options.contains("--post");
    Request request{options.at("--url") + "now_playing?page=1&api_key=0123456789abcdef0123456789abcdef",
                    is_post ? contents(options.at("--post")) : "", is_post};
    auto result = [&](std::string &body) { return decodes ? movies(body) : body.size(); };
    Loop(request, 1).run([&](Call &call) {
        if (call.body != expected) throw std::runtime_error("the response differs from the file");
        return false;
    });
    size_t wanted = result(expected);

    Loop loop(request, std::stoi(options.at("--in-flight")));
    std::vector<double> latencies;
    // Runs for some seconds. Calls in flight then still end.
    auto run = [&](double duration) {
        latencies.clear();
        auto start = Clock::now(), end = start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(duration));
        loop.run([&](Call &call) {
            if (result(call.body) != wanted) throw std::runtime_error("a response differs from the first one");
            auto now = Clock::now();
            latencies.push_back(seconds(now - call.start) * 1e6);
            return now < end;
        });
        return seconds(Clock::now() - start);
    };
    run(std::stod(options.at("--warm-up")));
    long peak = peak_kibibytes();
    double before = cpu_microseconds();
    double duration = run(std::stod(options.at("--seconds")));
    double used = cpu_microseconds() - before;
    size_t count = latencies.size();
    std::sort(latencies.begin(), latencies.end());
    printf("{\"requests\":%zu,\"errors\":0,\"seconds\":%f,\"requestsPerSecond\":%f,\"cpuMicroseconds\":%f,"
           "\"p50Microseconds\":%f,\"p99Microseconds\":%f,\"peakKiB\":%ld,\"peakGrowthKiB\":%ld}\n",
           count, duration, double(count) / duration, used / double(count), latencies[count / 2], latencies[count * 99 / 100],
           peak_kibibytes(), peak_kibibytes() - peak);
}

int main(int count, char **words) try {
    std::string command = count > 2 ? words[1] : "";
    if (command == "once") {
        Loop({words[2], "", false}, 1).run([](Call &call) {
            printf("%zu\n", movies(call.body));
            return false;
        });
    } else if (command == "http") {
        std::map<std::string, std::string> options;
        for (int index = 2; index < count; index++) {
            bool has_value = index + 1 < count && std::string(words[index + 1]).rfind("--", 0) != 0;
            options[words[index]] = has_value ? words[index + 1] : "";
        }
        measure(options);
    } else {
        std::cerr << "usage: floor http --peer PEER --url BASE ... | floor once URL\n";
        return 64;
    }
} catch (const std::exception &error) {
    std::cerr << "floor: " << error.what() << "\n";
    return 1;
}
