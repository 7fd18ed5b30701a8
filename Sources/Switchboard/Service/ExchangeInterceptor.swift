/// An interceptor of exchanges, not of calls: it runs inside of redirects, for each of the requests that they lead to.
///
/// ``Cookies`` is one. Wherever it is listed, a router puts it right behind its ``RedirectInterceptor``; listed behind
/// that, it stays where it is. Several keep their order. Other interceptors run where they are listed, and those before
/// the ``RedirectInterceptor``, which is the last unless the app lists one, see a call with its redirects as one.
public protocol ExchangeInterceptor: Interceptor {}
