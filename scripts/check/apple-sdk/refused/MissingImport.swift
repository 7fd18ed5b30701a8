// A file that does not import Foundation has no URL loading system. On Linux another file may import it for this one.
import Dispatch

func send(_ request: URLRequest) {}  // expected-error {{cannot find type 'URLRequest' in scope}}
