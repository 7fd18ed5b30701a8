// Darwin's timegm fails for years before 1900.
import Foundation

func seconds(_ parts: inout tm) -> time_t { timegm(&parts) }  // expected-error {{cannot find 'timegm' in scope}}
