/* SPDX-License-Identifier: MIT */
/* Two threads that wait, work and wait, for who counts them from outside. */
#ifndef WORKER_H
#define WORKER_H

#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct worker {
	void (*spin)(unsigned int turns);
	unsigned int turns;
	pthread_t thread;
	pid_t tid;
	sem_t is_there, go, is_done, over;
} workers[2];

static void *work(void *argument)
{
	struct worker *self = argument;

	self->tid = (pid_t)syscall(SYS_gettid);
	sem_post(&self->is_there);
	sem_wait(&self->go);
	self->spin(self->turns);
	sem_post(&self->is_done);
	sem_wait(&self->over);
	return NULL;
}

/* The second works twice @turns. */
static void start_worker(int i, void (*spin)(unsigned int), unsigned int turns)
{
	struct worker *worker = &workers[i];

	worker->spin = spin;
	worker->turns = turns * (unsigned int)(1 + i);
	sem_init(&worker->is_there, 0, 0);
	sem_init(&worker->go, 0, 0);
	sem_init(&worker->is_done, 0, 0);
	sem_init(&worker->over, 0, 0);
	pthread_create(&worker->thread, NULL, work, worker);
	sem_wait(&worker->is_there);
}

#endif
