/*
 * Two processes with one token file refresh their token: OAuth2Authenticator.refresh over FileTokenStore.refreshing. The
 * server lets tokens expire and accepts each refresh token once. A user may sign out, in one of the processes, and each
 * process may be killed at any point and start again. scripts/models verifies it. The lock is that of token-file.pml.
 * A refresh token is sent twice only after its process was killed, or after a sign-out.
 * Not in the model: a sign-in, a response that is lost, the timeout of the interceptor, and a refresh that takes longer than
 * the wait for the lock.
 *
 * file           the token in the file: a generation, 0 without one
 * known[me]      OAuth2Authenticator.stored, and the credential of the interceptor
 * lock           the holder of the lock of refreshes
 *
 * -DNO_LOCK      refreshes without the lock: two processes send one refresh token
 * -DNO_READ      does not read the file under the lock: sends a token that another process has replaced
 * -DLATE_SAVE    saves the token after the lock: two processes send one refresh token
 * -DBLIND_SAVE   saves the token whatever the file has: a sign-out is undone
 */
#define EXPIRIES 2
#define KILLS 1

byte file = 1, valid = 1;             /* generations */
byte known[2];
byte lock = 0, expiries = 0, kills = 0;
bit isExpired = 0, isLost = 0, isSignedOut = 0;

inline unlock() { if :: lock == me + 1 -> lock = 0 :: else fi }

inline save() {
    /* FileTokenStore.replace: under the lock of changes */
    d_step {
        if
#ifdef BLIND_SAVE
        :: true -> file = fresh
#else
        :: file == sent -> file = fresh
        :: else
#endif
        fi;
        known[me] = fresh
    }
}

proctype Process(byte me) {
    byte sent = 0, fresh = 0;
    start:
    {
        known[me] = file; /* OAuth2Authenticator.load */
        do
        :: known[me] != 0 && (isExpired || known[me] != valid) && !isSignedOut ->
            /* a request with a token that the API rejects */
#ifndef NO_LOCK
            d_step { lock == 0 -> lock = me + 1 };
#endif
#ifndef NO_READ
            /* OAuth2Authenticator.replacement */
            if
            :: file != known[me] -> known[me] = file
            :: else
            fi;
#endif
            if
            :: known[me] == 0 || known[me] == valid && !isExpired -> skip /* signed out, or refreshed by the other one */
            :: else ->
                sent = known[me];
                /* the server */
                d_step {
                    assert(sent == valid || isLost || isSignedOut);
                    valid++; isExpired = 0; fresh = valid
                };
#ifdef LATE_SAVE
                unlock();
#endif
                save()
            fi;
            unlock()
        :: isSignedOut || expiries == EXPIRIES && !isExpired -> break
        od
    } unless {
        /* The system releases the lock of a killed process. A token that it did not save is lost. */
        d_step {
            kills < KILLS && !isSignedOut -> kills++; unlock();
            if :: fresh != 0 && known[me] != fresh -> isLost = 1 :: else fi
        };
        goto start
    }
}

proctype Server() {
    do
    :: d_step { expiries < EXPIRIES && !isExpired -> expiries++; isExpired = 1 }
    :: expiries == EXPIRIES || isSignedOut -> break
    od
}

/* AuthenticationInterceptor.signOut */
proctype User() {
    d_step { file = 0; isSignedOut = 1 }
}

/* No refresh undoes a sign-out. */
active proctype Reader() {
    do
    :: d_step { isSignedOut && file != 0 -> assert(false) }
    :: (expiries == EXPIRIES && !isExpired) || isSignedOut -> break
    od
}

init { atomic { run Process(0); run Process(1); run Server(); run User() } }
