/*
 * Two processes with one token file refresh their token: AuthenticationInterceptor over FileTokenStore.withRefreshLock. The
 * server lets tokens expire, and accepts each refresh token once. Each process may be killed at any point, and starts again.
 * scripts/models verifies it. The lock of a file is that of token-file.pml.
 * A refresh token is sent twice only after a process was killed before it saved the new one.
 * Not in the model: sign-ins and sign-outs, a response or a save that fails, and a refresh that takes longer than the wait for
 * the lock.
 *
 * file           the token in the file: a generation
 * known[me]      the credential of the interceptor, and OAuth2Authenticator.stored
 * lock           the holder of the lock of refreshes
 *
 * -DNO_LOCK      refreshes without the lock: two processes send one refresh token
 * -DNO_READ      does not read the file under the lock: sends a token that another process has replaced
 * -DLATE_SAVE    saves the token after the lock: two processes send one refresh token
 */
#define EXPIRIES 2
#define KILLS 2

byte file = 1, valid = 1;             /* generations */
byte known[2];
byte lock = 0, expiries = 0, kills = 0, killed = 0;
bit isExpired = 0, isLost = 0;

inline unlock() { if :: lock == me + 1 -> lock = 0 :: else fi }

proctype Process(byte me) {
    byte fresh = 0;
    start:
    {
        known[me] = file; /* Authenticator.load */
        do
        :: isExpired || known[me] != valid ->
            /* a request with a token that the API rejects */
#ifndef NO_LOCK
            d_step { lock == 0 -> lock = me + 1 };
#endif
#ifndef NO_READ
            known[me] = file; /* OAuth2Authenticator.replacement */
#endif
            if
            :: known[me] == valid && !isExpired -> skip /* the other process has refreshed it */
            :: else ->
                /* the server */
                d_step {
                    assert(known[me] == valid || isLost);
                    valid++; isExpired = 0; isLost = 0; fresh = valid
                };
#ifdef LATE_SAVE
                unlock();
#endif
                /* AuthenticationInterceptor.store and save */
                known[me] = fresh;
                d_step { file = fresh; fresh = 0 }
            fi;
            unlock()
        :: expiries == EXPIRIES && !isExpired -> break
        od
    } unless {
        /* The system releases the lock of a killed process. A token that it did not save is lost. */
        d_step {
            killed == me + 1 -> killed = 0; unlock();
            if :: fresh != 0 -> isLost = 1 :: else fi;
            fresh = 0
        };
        goto start
    }
}

proctype Server() {
    do
    :: d_step { expiries < EXPIRIES && !isExpired -> expiries++; isExpired = 1 }
    :: expiries == EXPIRIES -> break
    od
}

/* An escape of `unless` that can run always runs, so that another process chooses the moment. */
proctype Killer() {
    do
    :: d_step { kills < KILLS && killed == 0 -> kills++; killed = 1 }
    :: d_step { kills < KILLS && killed == 0 -> kills++; killed = 2 }
    :: break
    od
}

init { atomic { run Process(0); run Process(1); run Server(); run Killer() } }
