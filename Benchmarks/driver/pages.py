"""The pages of the measurements: movies as JSON, 91 bytes to 1 MB. The page without movies also answers the POST of 1 KB."""

import json
import pathlib
import random

SIZES = {"91 bytes": 91, "1 KB POST": 91, "1 KB": 1_024, "12 KB": 12_288, "1 MB": 1_048_576}
MOVIES = {"91 bytes": 0, "1 KB POST": 0, "1 KB": 2, "12 KB": 20, "1 MB": 1_700}
FOLDERS = {"91 bytes": "91", "1 KB POST": "post", "1 KB": "1k", "12 KB": "12k", "1 MB": "1m"}
WORDS = (
    "a the one of in and to her his young old city war night summer family secret journey friend enemy detective "
    "captain house island winter love murder money train river forest letter stranger brother daughter village dream"
).split()


def write(site):
    """Writes each page as `FOLDER/now_playing` below a folder and returns that folder."""
    for name in SIZES:
        folder = site / FOLDERS[name]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "now_playing").write_bytes(page(MOVIES[name], SIZES[name]))
    return site


def file(site, name) -> pathlib.Path:
    return site / FOLDERS[name] / "now_playing"


def page(count, size):
    """Returns a page of `count` movies, with overviews that make it exactly `size` bytes long, or another text without movies."""
    chance = random.Random(count)
    movies = [movie(number, chance) for number in range(count)]
    body = {"page": 1, "results": movies, "total_pages": 42, "total_results": 42 * count}
    if not movies:
        body["note"] = ""
    missing = size - len(json.dumps(body, separators=(",", ":")))
    for number, item in enumerate(movies):
        share = missing // count + (number < missing % count)
        item["overview"] = words(chance, share)
    if not movies:
        body["note"] = words(chance, missing)
    text = json.dumps(body, separators=(",", ":"))
    assert len(text) == size, (len(text), size)
    return text.encode()


def movie(number, chance):
    title = words(chance, 14).strip().title()
    return {
        "adult": False,
        "backdrop_path": f"/{chance.getrandbits(80):020x}.jpg",
        "genre_ids": [28, 12, 878][: 1 + number % 3],
        "id": 100_000 + number * 37,
        "original_language": "en",
        "original_title": title,
        "overview": "",
        "popularity": round(chance.uniform(1, 2_000), 3),
        "poster_path": f"/{chance.getrandbits(80):020x}.jpg",
        "release_date": f"{2000 + number % 25}-{1 + number % 12:02}-{1 + number % 28:02}",
        "title": title,
        "video": False,
        "vote_average": round(chance.uniform(1, 10), 1),
        "vote_count": chance.randrange(20_000),
    }


def words(chance, length):
    text = ""
    while len(text) < length:
        text += chance.choice(WORDS) + " "
    return text[:length]
