# SPDX-License-Identifier: MIT
"""Names of the system calls that threads block in, and what they block for."""

from __future__ import annotations

from hasp.profile.model.holding import HolderState

# By the machine number of ELF headers, from the C library's <sys/syscall.h>.
TABLES = {
    62: """
    0:read 1:write 2:open 3:close 4:stat 5:fstat 6:lstat 7:poll 8:lseek 9:mmap
    10:mprotect 11:munmap 12:brk 16:ioctl 17:pread64 18:pwrite64 19:readv 20:writev
    21:access 23:select 24:sched_yield 25:mremap 26:msync 27:mincore 28:madvise
    34:pause 35:nanosleep 40:sendfile 41:socket 42:connect 43:accept 44:sendto
    45:recvfrom 46:sendmsg 47:recvmsg 48:shutdown 49:bind 50:listen 54:setsockopt
    55:getsockopt 56:clone 57:fork 58:vfork 59:execve 60:exit 61:wait4 62:kill
    65:semop 69:msgsnd 70:msgrcv 72:fcntl 73:flock 74:fsync 75:fdatasync 76:truncate
    77:ftruncate 82:rename 83:mkdir 84:rmdir 86:link 87:unlink 88:symlink
    89:readlink 90:chmod 91:fchmod 92:chown 93:fchown 101:ptrace 128:rt_sigtimedwait
    130:rt_sigsuspend 149:mlock 150:munlock 151:mlockall 162:sync 202:futex
    208:io_getevents 209:io_submit 217:getdents64 219:restart_syscall 220:semtimedop
    230:clock_nanosleep 231:exit_group 232:epoll_wait 234:tgkill 242:mq_timedsend
    243:mq_timedreceive 247:waitid 254:inotify_add_watch 257:openat 258:mkdirat
    262:newfstatat 263:unlinkat 264:renameat 265:linkat 266:symlinkat 267:readlinkat
    269:faccessat 270:pselect6 271:ppoll 275:splice 276:tee 277:sync_file_range
    278:vmsplice 280:utimensat 281:epoll_pwait 285:fallocate 288:accept4 295:preadv
    296:pwritev 299:recvmmsg 306:syncfs 307:sendmmsg 310:process_vm_readv
    311:process_vm_writev 316:renameat2 318:getrandom 322:execveat 324:membarrier
    325:mlock2 326:copy_file_range 327:preadv2 328:pwritev2 332:statx
    426:io_uring_enter 435:clone3 441:epoll_pwait2
    """,
    183: """
    2:io_submit 4:io_getevents 22:epoll_pwait 25:fcntl 27:inotify_add_watch 29:ioctl
    32:flock 34:mkdirat 35:unlinkat 36:symlinkat 37:linkat 38:renameat 45:truncate
    46:ftruncate 47:fallocate 48:faccessat 52:fchmod 55:fchown 56:openat 57:close
    61:getdents64 62:lseek 63:read 64:write 65:readv 66:writev 67:pread64
    68:pwrite64 69:preadv 70:pwritev 71:sendfile 72:pselect6 73:ppoll 75:vmsplice
    76:splice 77:tee 78:readlinkat 79:newfstatat 80:fstat 81:sync 82:fsync
    83:fdatasync 84:sync_file_range 88:utimensat 93:exit 94:exit_group 95:waitid
    98:futex 101:nanosleep 115:clock_nanosleep 117:ptrace 124:sched_yield
    128:restart_syscall 129:kill 131:tgkill 133:rt_sigsuspend 137:rt_sigtimedwait
    182:mq_timedsend 183:mq_timedreceive 188:msgrcv 189:msgsnd 192:semtimedop
    193:semop 198:socket 200:bind 201:listen 202:accept 203:connect 206:sendto
    207:recvfrom 208:setsockopt 209:getsockopt 210:shutdown 211:sendmsg 212:recvmsg
    214:brk 215:munmap 216:mremap 220:clone 221:execve 222:mmap 226:mprotect
    227:msync 228:mlock 229:munlock 230:mlockall 232:mincore 233:madvise 242:accept4
    243:recvmmsg 260:wait4 267:syncfs 269:sendmmsg 270:process_vm_readv
    271:process_vm_writev 276:renameat2 278:getrandom 281:execveat 283:membarrier
    284:mlock2 285:copy_file_range 286:preadv2 287:pwritev2 291:statx
    426:io_uring_enter 435:clone3 441:epoll_pwait2
    """,
}
SLEEPS = ("nanosleep", "clock_nanosleep", "pause", "sched_yield", "rt_sigsuspend")
MEMORY = ("mmap", "munmap", "brk", "madvise", "mprotect", "mremap")


class SystemCalls:
    """The system calls of one kind of machine."""

    def __init__(self, machine: int) -> None:
        pairs = (word.split(":") for word in TABLES.get(machine, "").split())
        self._names = {int(number): name for number, name in pairs}

    def name(self, number: int) -> str:
        """Return the name; "system call 500" if it is not known."""
        return self._names.get(number) or f"system call {number}"


def state_in(call: str) -> HolderState:
    """Return the state of a thread that is blocked in a system call."""
    if call == "futex":
        return HolderState.FUTEX
    if call in SLEEPS:
        return HolderState.ASLEEP
    return HolderState.FAULT if call in MEMORY else HolderState.IO
