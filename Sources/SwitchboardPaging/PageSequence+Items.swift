import Foundation
import Switchboard

extension PageSequence {
    /// What the pages hold, one after the other. The next page is asked for when all of one was taken; pages without
    /// any are passed over.
    ///
    /// ```swift
    /// let pages = router.pages(of: .popular(page: 1), as: MoviePage.self)
    /// for try await movie in pages.items(\.results) { show(movie) }
    /// ```
    ///
    /// - Parameter items: What a page holds.
    /// - Returns: The items; each iteration starts again at the first page.
    public func items<Item: Sendable>(_ items: @escaping @Sendable (Value) -> [Item]) -> Items<Item> {
        Items(pages: self, items: items)
    }

    /// What the pages hold, when each of them is a list itself; see ``items(_:)``.
    public func items() -> Items<Value.Element> where Value: Sequence, Value.Element: Sendable {
        items { Array($0) }
    }

    /// What the pages hold; see ``PageSequence/items(_:)``.
    public struct Items<Item: Sendable>: AsyncSequence, Sendable {
        /// What comes.
        public typealias Element = Item

        let pages: PageSequence
        let items: @Sendable (Value) -> [Item]

        /// Reads the items in order.
        public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
            fileprivate var pages: PageSequence.AsyncIterator
            fileprivate let items: @Sendable (Value) -> [Item]
            fileprivate var rest: ArraySlice<Item> = []

            /// The next item; nil behind the last one, and after an error.
            ///
            /// - Throws: What ``PageSequence/AsyncIterator/next()`` throws.
            public mutating func next() async throws -> Item? {
                while rest.isEmpty {
                    guard let page = try await pages.next() else { return nil }
                    rest = pages.inEnvironment { items(page.value) }[...]
                }
                return rest.popFirst()
            }
        }

        /// Starts at the first page.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(pages: pages.makeAsyncIterator(), items: items)
        }
    }
}
