import Foundation
import Switchboard

extension PageSequence {
    /// Returns the items of all pages, one after the other. The next page is requested when all items of a page are
    /// read. Empty pages are skipped.
    ///
    /// ```swift
    /// let pages = router.pages(of: .popular(page: 1), as: MoviePage.self)
    /// for try await movie in pages.items(\.results) { show(movie) }
    /// ```
    ///
    /// - Parameter items: Returns the items of a page.
    /// - Returns: The items. Each iteration starts at the first page.
    public func items<Item>(_ items: @escaping @Sendable (Value) -> [Item]) -> Items<Item> {
        Items(pages: self, items: items)
    }

    /// Returns the items of pages that are lists themselves. See ``items(_:)``.
    public func items() -> Items<Value.Element> where Value: Sequence & Sendable {
        items { Array($0) }
    }

    /// The items of all pages. See ``PageSequence/items(_:)``.
    public struct Items<Item>: AsyncSequence, Sendable {
        /// The type of an item.
        public typealias Element = Item

        let pages: PageSequence
        let items: @Sendable (Value) -> [Item]

        /// Reads the items in order.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate var pages: PageSequence.AsyncIterator
            fileprivate let items: @Sendable (Value) -> [Item]
            fileprivate var rest: ArraySlice<Item> = []

            /// Returns the next item, or nil after the last one or after an error.
            ///
            /// - Throws: The errors of ``PageSequence/AsyncIterator/next()``.
            public mutating func next() async throws -> Item? {
                while rest.isEmpty {
                    guard let page = try await pages.next() else { return nil }
                    rest = pages.inEnvironment { items(page.value) }[...]
                }
                return rest.popFirst()
            }
        }

        /// Creates an iterator that starts at the first page.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(pages: pages.makeAsyncIterator(), items: items)
        }
    }
}
