/*
 * Keeps ioctls from the kernel: each one succeeds at once and does nothing, so that only the caller's part is left.
 *
 * Instruction by instruction what the crate seccompiler makes of the same wish, so that it costs all peers the same.
 */
#ifndef FILTER_H
#define FILTER_H

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

#define IOCTL_NUMBER 16

static struct sock_filter ioctls_succeed[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IOCTL_NUMBER, 0, 1),
	BPF_STMT(BPF_JMP | BPF_JA, 1),
	BPF_STMT(BPF_JMP | BPF_JA, 2),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static struct sock_fprog ioctls_succeed_program = {
	.len = sizeof(ioctls_succeed) / sizeof(*ioctls_succeed),
	.filter = ioctls_succeed,
};

#endif
