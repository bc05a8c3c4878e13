/* The recording of operations for graphs (cuda_graph.c). */
#ifndef GPUWARDEN_CUDA_GRAPH_H
#define GPUWARDEN_CUDA_GRAPH_H

#include "cuda_sim.h"

/* Runs a recorded operation on a stream that records nothing. Without cu_lock. */
typedef CUresult cu_replay_t(cu_call_t *call, CUstream stream, void *work);
typedef void cu_release_t(void *work);

/* Records an operation with a copy of `work`, on a stream that has a capture. With cu_lock held, as the next two. */
CUresult cu_capture(cu_stream_t *stream, cu_replay_t *replay, cu_release_t *release, const void *work, size_t bytes);
/* Makes the capture of a stream invalid; returns the result, or 901 if it was invalid before. */
CUresult cu_capture_break(cu_stream_t *stream, CUresult result);
/* Releases what a graph, or a stream with a capture, has. */
void cu_graph_end(cu_object_t *object);
/* For a call that can wait for other work: 900, and an invalid capture, where a capture of any thread or of this one forbids it. */
CUresult cu_capture_unsafe(void);

#endif
