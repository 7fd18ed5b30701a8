/*
 * Two processes change one token file: FileTokenStore.change, over FileLock.withLock and PrivateFile.write.
 * Each saves tokens in a partition of its own, and may be killed at any point and start again.
 * A step is one system call. scripts/models verifies it.
 *
 * path, flocks      the lock file of FileLock: the inode with its name, and the holder of the lock of each inode
 * file              the token file, which rename replaces at once
 * acknowledged      the last token that each process renamed into the file
 *
 * -DNO_READ_UNDER_LOCK    reads the file before the lock, as a store with a cached content would: a token is lost
 * -DNO_INODE_CHECK        trusts a lock whose file was removed: two processes change the file at once
 */
#define NONE 255
#define INODES 16
#define SAVES 2
#define KILLS 2

byte path = NONE, created = 0;
byte flocks[INODES];
typedef Contents { byte token[2] };
Contents file;
byte acknowledged[2];
byte kills = 0, killed = 0;
bit inside[2];

inline release() {
    if
    :: fd != NONE && flocks[fd] == me + 1 -> flocks[fd] = 0
    :: else
    fi;
    fd = NONE; inside[me] = 0
}

inline read_file() { d_step { copy.token[0] = file.token[0]; copy.token[1] = file.token[1] } }

proctype Process(byte me) {
    byte fd = NONE;
    Contents copy;
    start:
    {
        do
        :: acknowledged[me] < SAVES ->
            read_file();
            /* FileLock.acquire: open with O_CREAT */
            d_step {
                if
                :: path == NONE -> path = created; created++; assert(created < INODES)
                :: else
                fi;
                fd = path
            };
            /* flock with LOCK_NB */
            if
            :: d_step { flocks[fd] == 0 -> flocks[fd] = me + 1 }
            :: d_step { flocks[fd] != 0 -> fd = NONE }
            fi;
            if
            :: fd == NONE /* FileLock.withLock sleeps and tries again, or throws Busy after its timeout */
            :: fd != NONE ->
                /* fstat of the descriptor, lstat of the name */
                if
#ifdef NO_INODE_CHECK
                :: true ->
#else
                :: path == fd ->
#endif
                    inside[me] = 1;
                    assert(inside[1 - me] == 0);
#ifndef NO_READ_UNDER_LOCK
                    /* FileTokenStore.change: read, change, write */
                    read_file();
#endif
                    copy.token[me] = acknowledged[me] + 1;
                    /* PrivateFile.write: rename */
                    d_step {
                        file.token[0] = copy.token[0]; file.token[1] = copy.token[1];
                        acknowledged[me] = copy.token[me]
                    };
                    inside[me] = 0;
                    path = NONE; /* unlink */
                    d_step { release() } /* close */
#ifndef NO_INODE_CHECK
                :: path != fd -> d_step { release() }
#endif
                fi
            fi
        :: else -> break
        od
    } unless {
        /* The system closes the descriptors of a killed process. Its lock file stays. */
        d_step { killed == me + 1 -> killed = 0; release() };
        goto start
    }
}

/* No token that was saved is lost. */
active proctype Reader() {
    do
    :: d_step { (file.token[0] != acknowledged[0] || file.token[1] != acknowledged[1]) -> assert(false) }
    :: (acknowledged[0] == SAVES && acknowledged[1] == SAVES) -> break
    od
}

/* An escape of `unless` that can run always runs, so that another process chooses the moment. */
active proctype Killer() {
    do
    :: d_step { kills < KILLS && killed == 0 -> kills++; killed = 1 }
    :: d_step { kills < KILLS && killed == 0 -> kills++; killed = 2 }
    :: break
    od
}
init { atomic { run Process(0); run Process(1) } }
