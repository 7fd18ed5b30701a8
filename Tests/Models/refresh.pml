/*
 * The refresh of AuthenticationInterceptor in one process: three requests, a server that lets tokens expire, a refresh that
 * may fail before the server or whose response may be lost, and a user who may sign out. scripts/models verifies it.
 * A refresh sends a token that the server has replaced only after its response was lost. The server then responds with a
 * new token or with invalid_grant, which removes the token.
 * Not in the model: a sign-in, an authenticator that signs in without a token, and saved tokens. Storing a token and waking
 * the waiters is one step.
 *
 * stored, pending, failures    PartitionState: the token's generation, the refresh in flight, the failed refreshes
 * result[id]                   SharedOperation: 0 in flight, 1 a value, 2 an error
 *
 * -DNO_JOIN              a request starts a refresh although one is in flight: two refreshes use one token
 * -DNO_GENERATION        a request refreshes its token although it was replaced or removed: an old token is used
 * -DNO_SUPERSEDE         a refresh stores its token although the user signed out: an old token comes back
 * -DNO_FINISH            a sign-out does not end the refresh in flight, which then never ends: a deadlock
 */
#define REFRESHES 5

byte stored = 1, valid = 1, last = 1;    /* generations; 0 is none */
byte pending = 0, started = 0, failures = 0;
byte result[REFRESHES];
bit isReplaced[12], isLost[12];          /* the server replaced a token; the response with its new token was lost */
bit isSignedOut = 0;
byte expiries = 0, requests = 0;

/* AuthenticationInterceptor.start, store and recordFailure */
proctype Refresh(byte id; byte old) {
    byte fresh = 0;
    bit isRejected = 0;                  /* isLost(after:) */
    /* Authenticator.refresh */
    assert(!isReplaced[old] || isLost[old]);
    if
    :: d_step { isReplaced[old] = 1; last++; fresh = last; valid = fresh }
    :: d_step { isReplaced[old] = 1; last++; valid = last; isLost[old] = 1 }
    :: isReplaced[old] -> isRejected = 1 /* invalid_grant */
    :: skip /* the request fails before the server */
#ifdef NO_FINISH
    :: isSignedOut -> goto end_lost
#endif
    fi;
    d_step {
        if
#ifdef NO_SUPERSEDE
        :: fresh != 0 -> stored = fresh; pending = 0
#else
        :: pending == id && fresh != 0 -> stored = fresh; pending = 0
#endif
        :: pending == id && fresh == 0 ->
            pending = 0; failures++;
            if
            :: isRejected -> stored = 0
            :: else
            fi
        :: else
        fi;
        if
        :: result[id] == 0 -> result[id] = (fresh != 0 -> 1 : 2)
        :: else
        fi
    };
    assert(!isSignedOut || stored == 0);
    end_lost: skip
}

/* AuthenticationInterceptor.intercept, step(replacing:) and wait(for:) */
proctype Request() {
    byte before, token, id;
    before = failures;
    token = stored;
    if
    :: token == 0 -> goto ended          /* cannotAuthenticate */
    :: token == valid -> goto ended      /* the server accepts it */
    :: token != 0 && token != valid      /* 401 */
    fi;
    atomic {
        if
#ifndef NO_JOIN
        :: pending != 0 -> id = pending
#endif
#ifndef NO_GENERATION
        :: pending == 0 && stored != token -> goto ended
#endif
        :: pending == 0 && failures > before && stored == token -> goto ended
        :: else ->
            started++; id = started; pending = id;
            assert(id < REFRESHES);
            run Refresh(id, token)
        fi
    };
    result[id] != 0;
    ended: requests++
}

/* Tokens expire. */
active proctype Server() {
    do
    :: atomic { expiries < 2 && valid != 0 -> expiries++; valid = 0 }
    :: break
    od
}

/* AuthenticationInterceptor.signOut; a reset does the same. */
active proctype User() {
    if
    :: atomic {
        isSignedOut = 1; stored = 0;
#ifndef NO_FINISH
        if
        :: pending != 0 && result[pending] == 0 -> result[pending] = 2
        :: else
        fi;
#endif
        pending = 0
    }
    :: skip
    fi
}

init { atomic { run Request(); run Request(); run Request() } }
