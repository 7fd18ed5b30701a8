/// Decides by the words of a name whether its value is a secret.
///
/// Words end at punctuation, at a change of case and between letters and digits: `passwordConfirmation`, `token_v2` and
/// `SAMLResponse` have two, three and two. A word such as `password` marks a secret, unless a later word shows that the
/// value only describes the secret, as in `token_type`. Words such as `key` and `code` need a word before them:
/// `secret_key` but not `sort_key`. A position in a list is no secret: `page_token`.
struct SecretName {
    /// The words in lower case.
    private let words: [String]

    init(_ name: some StringProtocol) {
        var words: [[UInt8]] = []
        var word: [UInt8] = []
        var last = Kind.other
        // Only the end of a longer name counts.
        for byte in name.utf8.suffix(256) {
            let kind = Kind(byte)
            if kind == .lower, last == .upper, word.count > 1, let first = word.popLast() {
                // The last capital of `SAMLResponse` begins a word.
                words.append(word)
                word = [first]
            } else if kind != last, !(kind == .lower && last == .upper), !word.isEmpty {
                words.append(word)
                word = []
            }
            if kind != .other { word.append(byte.lowercased) }
            last = kind
        }
        if !word.isEmpty { words.append(word) }
        self.words = words.map { String(decoding: $0, as: UTF8.self) }
    }

    private enum Kind {
        case lower, upper, digit, other

        init(_ byte: UInt8) {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): self = .upper
            case UInt8(ascii: "0")...UInt8(ascii: "9"): self = .digit
            case UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...: self = .lower
            default: self = .other
            }
        }
    }

    var isSecret: Bool {
        // CORS fields only state permissions: `Access-Control-Allow-Credentials: true`.
        if words.starts(with: ["access", "control"]), words.count > 2, Self.corsWords.contains(words[2]) {
            return false
        }
        if isPosition { return false }
        let marks = words.indices.filter(marksSecret)
        guard let last = marks.last else { return false }
        if marks.count == 1, last > 0, Self.questionWords.contains(words[0]) { return false }
        return !words[(last + 1)...].contains(where: Self.descriptionWords.contains)
    }

    /// Returns whether the word marks a secret, alone or with the word before it.
    private func marksSecret(_ index: Int) -> Bool {
        let word = words[index]
        if Self.exactWords.contains(word) || Self.suffixes.contains(where: word.hasUTF8Suffix) { return true }
        // `devicecode`
        for (noun, before) in Self.qualifiers where word.hasUTF8Suffix(noun) {
            if before.contains(String(decoding: word.utf8.dropLast(noun.utf8.count), as: UTF8.self)) { return true }
        }
        guard index > 0 else { return false }
        let before = words[index - 1]
        // `x-rapidapi-key`
        return Self.suffixes.contains(where: (before + word).hasUTF8Suffix)
            || Self.qualifiers[word]?.contains(before) == true
    }

    /// Whether all words name the token of a position: `nextPageToken`, `$skiptoken`. A token after another word may be a
    /// credential, as `facebookPageToken` is.
    private var isPosition: Bool {
        guard let last = words.last, last.hasUTF8Suffix("token") else { return false }
        let rest = words.dropLast() + [String(decoding: last.utf8.dropLast(5), as: UTF8.self)]
        return rest.contains(where: Self.positionWords.contains)
            && rest.allSatisfy { Self.positionWords.contains($0) || Self.wordsWithPositions.contains($0) }
    }

    /// Words for the token of a position, as APIs of Google, Microsoft, Amazon and others name it.
    private static let positionWords = "page pagination cursor next skip sync delta".words

    /// Words that may accompany them. Alone they name credentials too, such as the `continuation_token` of a sign-in.
    private static let wordsWithPositions: Set = ["", "new", "start", "prev", "previous", "forward", "continuation"]

    /// The words after `Access-Control` in the fields of CORS.
    private static let corsWords = "allow expose request max".words

    /// Words that mark a secret, alone and as the end of a longer word.
    private static let suffixes = """
        token secret password passwd passphrase passcode apikey accesskey secretkey privatekey authkey accountkey \
        subscriptionkey sessionkey signature credential credentials authorization sessionid sessid accesscode \
        authcode authorizationcode csrf xsrf otp jwt
        """.words

    /// Words that mark a secret only when they are whole, because they also end other words.
    private static let exactWords = """
        pwd passwords secrets cvv cvc cvn assertion mnemonic sig passkey privkey aspxauth wresult pw psk pswd bindpw \
        creds passcodes otps signatures presharedkey
        """.words

    /// Words that mark a secret after one of the given words.
    private static let qualifiers: [String: Set<String>] = [
        "key": """
        api access secret private auth authentication encryption decryption signing subscription account \
        session master shared storage service consumer ssh hmac aes rsa admin webhook function functions \
        deploy recovery backup priv security integration developer license app application client server write wallet \
        ssl tls wifi network preshared
        """.words,
        "answer": ["security"],
        "auth": ["basic", "bearer", "proxy"],
        "header": ["auth"],
        "keys": "api access secret private signing encryption ssh auth service".words,
        "link": ["magic"],
        "material": ["key"],
        "ticket": ["login"],
        "tokens": "bot device session reset access refresh auth api bearer".words,
        "code": """
        auth authorization access device user verification verify mfa tfa fa totp sms security pin pass backup \
        recovery confirmation confirm activation login signin invite invitation reset factor \
        phone email authenticator unlock
        """.words,
        "codes": ["backup", "recovery"],
        "cookie": ["auth", "session"],
        "id": ["session", "sess"],
        "number": ["card", "cc", "pin"],
        "pan": ["card"],
        "pin": "user card new old current confirm account sms sim device security transaction login".words,
        "pass": "user db database admin root smtp ftp wp login new old mail proxy redis mysql pg keystore truststore"
            .words,
        "response": ["saml"],
        "seed": ["wallet"],
        "session": "laravel rails gitlab symfony express koa flask".words,
        "string": ["connection"],
        "phrase": "seed recovery pass mnemonic".words,
    ]

    /// Words after a secret's word that show that the value only describes the secret.
    private static let descriptionWords = """
        count counts type types kind length len size limit limits max min expires expiry expiration expire expired \
        exp ttl lifetime age at in on date time timeout policy policies url urls uri uris endpoint endpoints path \
        name names strength required enabled disabled supported method methods algorithm alg format version usage \
        used label placeholder title message error errors status state valid invalid verified present exists id \
        ids index mode location scheme issuer audience scope scopes rotation interval changed created updated \
        prefix position rule rules requirements hint field form page provider manager store source \
        symbol address balance supply budget amount param flow
        """.words

    /// First words of questions: `has_password`.
    private static let questionWords = "has is requires require needs supports allow allows show forgot".words
}

extension String {
    fileprivate func hasUTF8Suffix(_ suffix: String) -> Bool {
        utf8.count >= suffix.utf8.count && utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }
}
