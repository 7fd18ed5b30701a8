import FoundationNetworking  // expected-error {{no such module 'FoundationNetworking'}}
