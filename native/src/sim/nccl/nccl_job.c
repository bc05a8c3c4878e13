/* Threads that start ranks: joined at the end of a group, or alone for a communicator that does not block. */
#include <stdlib.h>

#include "nccl_sim.h"

typedef struct job job_t;

/* The starts of a group. The first that fails ends the others, which would wait for its rank. */
typedef struct {
    job_t *jobs;
    int count;
    ncclResult_t first; /* error */
} jobs_t;

struct job {
    jobs_t *all;
    nc_start_t start;
    pthread_t thread;
    bool running;
};

void nc_start_over(ncclComm_t comm)
{
    pthread_mutex_lock(&comm->lock);
    comm->busy_threads = false;
    pthread_cond_broadcast(&comm->changed);
    pthread_mutex_unlock(&comm->lock);
}

static ncclResult_t run_start(const nc_start_t *start)
{
    ncclComm_t comm = start->comm;
    ncclResult_t result = nc_comm_meet(comm, &start->id);
    nc_set_state(comm, result);
    nc_start_over(comm);
    return result;
}

static void fail_jobs(jobs_t *all, ncclResult_t result)
{
    ncclResult_t none = ncclSuccess;
    if (__atomic_compare_exchange_n(&all->first, &none, result, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        for (int i = 0; i < all->count; i++) {
            nc_abort(all->jobs[i].start.comm);
        }
    }
}

static void *run_job(void *argument)
{
    job_t *job = argument;
    ncclResult_t result = run_start(&job->start);
    if (result != ncclSuccess) {
        fail_jobs(job->all, result);
    }
    return NULL;
}

static void *run_alone(void *argument)
{
    nc_start_t start = *(nc_start_t *)argument;
    free(argument);
    run_start(&start);
    return NULL;
}

ncclResult_t nc_start_alone(const nc_start_t *start)
{
    nc_start_t *copy = malloc(sizeof *copy);
    pthread_t thread;
    if (!copy) {
        nc_start_over(start->comm);
        return nc_fail(ncclSystemError, "Failed to malloc");
    }
    *copy = *start;
    if (pthread_create(&thread, NULL, run_alone, copy) != 0) {
        free(copy);
        nc_start_over(start->comm);
        return nc_fail(ncclSystemError, "pthread_create failed");
    }
    pthread_detach(thread);
    return ncclInProgress;
}

ncclResult_t nc_start_and_wait(const nc_start_t *starts, int count)
{
    jobs_t all = {calloc((size_t)count, sizeof *all.jobs), count, ncclSuccess};
    for (int i = 0; i < count && !all.jobs; i++) {
        nc_start_over(starts[i].comm);
    }
    if (!all.jobs) {
        return nc_fail(ncclSystemError, "Failed to malloc");
    }
    for (int i = 0; i < count; i++) { /* complete before the first one runs */
        all.jobs[i].all = &all;
        all.jobs[i].start = starts[i];
    }
    for (int i = 0; i < count; i++) {
        job_t *job = &all.jobs[i];
        job->running = count > 1 && pthread_create(&job->thread, NULL, run_job, job) == 0;
        if (count == 1) {
            run_job(job);
        } else if (!job->running) {
            nc_start_over(job->start.comm);
            fail_jobs(&all, nc_fail(ncclSystemError, "pthread_create failed"));
        }
    }
    for (int i = 0; i < count; i++) {
        if (all.jobs[i].running) {
            pthread_join(all.jobs[i].thread, NULL);
        }
    }
    free(all.jobs);
    return all.first;
}
