import Dispatch
import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CompletionQueueTests {
    private let url = URL(text: "https://api.example.com/things")

    @Test("completions run on the router's queue", .requirement("S1.13"))
    func ownQueue() async throws {
        let key = DispatchSpecificKey<String>()
        let queue = DispatchQueue(label: "completions")
        queue.setSpecific(key: key, value: "mine")
        let places = Deliveries<String?>()
        let session = StubSession(.text("a"), .status(500))
        let router = Router<URLEndPoint>(session: session, completionQueue: queue)
        router.request(URLEndPoint(.get, url), as: String.self) { _ in places.add(DispatchQueue.getSpecific(key: key)) }
        router.request(URLEndPoint(.get, url), as: String.self) { _ in places.add(DispatchQueue.getSpecific(key: key)) }
        router.request(URLEndPoint(.get, URL(text: "ftp://a/"))) { _, _, _ in
            places.add(DispatchQueue.getSpecific(key: key))
        }
        #expect(try await places.wait(for: 3) == ["mine", "mine", "mine"])
    }

    @Test("without a queue, the actor that decodes calls back once")
    @MainActor func withoutQueue() async throws {
        struct Film: Decodable { let id: Int }
        let ids = Deliveries<Int?>()
        let router = Router<URLEndPoint>(session: StubSession(.json(#"{"id":1}"#), .status(500)))
        for _ in 1...2 {
            router.request(URLEndPoint(.get, url), as: Film.self, isolation: MainActor.shared) {
                ids.add((try? $0.get())?.id)
            }
        }
        #expect(try await Set(ids.wait(for: 2)) == [1, nil])
    }

    @Test("completions run on the main queue on request, from a manager too", .requirement("S1.13"))
    func main() async throws {
        // Checks the queue, not the thread: on Linux the main queue may run on a thread other than the first.
        let key = DispatchSpecificKey<String>()
        DispatchQueue.main.setSpecific(key: key, value: "main")
        let places = Deliveries<String?>()
        let session = StubSession { _ in .text("a") }
        let router = Router<URLEndPoint>(session: session, completionQueue: .main)
        router.request(URLEndPoint(.get, url), as: String.self) { _ in places.add(DispatchQueue.getSpecific(key: key)) }
        let manager = NetworkManager(session: session, completionQueue: .main)
        manager.router(for: URLEndPoint.self).response(for: URLEndPoint(.get, url)) { _ in
            places.add(DispatchQueue.getSpecific(key: key))
        }
        #expect(try await places.wait(for: 2) == ["main", "main"])
    }
}
