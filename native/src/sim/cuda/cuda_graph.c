/*
 * Graphs: operations of a stream that are recorded instead of run, and run when the graph is launched. A graph is a list in the order of the
 * recording, since all of it comes from one stream.
 */
#include <stdlib.h>
#include <string.h>

#include "cuda_graph.h"

typedef struct node {
    struct node *next;
    cu_replay_t *replay;
    cu_release_t *release; /* NULL: nothing to release */
    max_align_t work[];
} node_t;

/* A graph and what is instantiated from it share the nodes. */
struct cu_nodes {
    int holders;
    node_t *first, **end;
};

struct cu_graph {
    cu_object_t object;
    cu_nodes_t *nodes;
};

static void let_go(cu_nodes_t *nodes)
{
    if (--nodes->holders > 0) {
        return;
    }
    while (nodes->first) {
        node_t *next = nodes->first->next;
        if (nodes->first->release) {
            nodes->first->release(nodes->first->work);
        }
        free(nodes->first);
        nodes->first = next;
    }
    free(nodes);
}

void cu_graph_end(cu_object_t *object)
{
    if (object->kind == CU_IS_GRAPH || object->kind == CU_IS_EXECUTABLE) {
        let_go(((struct cu_graph *)object)->nodes);
    } else if (object->kind == CU_IS_STREAM && ((cu_stream_t *)object)->capture) {
        let_go(((cu_stream_t *)object)->capture);
    }
}

CUresult cu_capture(cu_stream_t *stream, cu_replay_t *replay, cu_release_t *release, const void *work, size_t bytes)
{
    node_t *node = stream->invalid ? NULL : malloc(sizeof *node + bytes);
    if (!node) {
        return stream->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_ERROR_OUT_OF_MEMORY;
    }
    *node = (node_t){.replay = replay, .release = release};
    memcpy(node->work, work, bytes);
    *stream->capture->end = node;
    stream->capture->end = &node->next;
    return CUDA_SUCCESS;
}

CUresult cu_capture_break(cu_stream_t *stream, CUresult result)
{
    bool before = stream->invalid;
    stream->invalid = true;
    return before ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : result;
}

CUresult cu_capture_unsafe(void)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&cu_lock);
    for (int i = 0; i < cu_device_count; i++) {
        for (cu_object_t *object = cu_devices[i].objects; object; object = object->next) {
            cu_stream_t *stream = object->kind == CU_IS_STREAM ? (cu_stream_t *)object : NULL;
            bool own = stream && stream->capture && pthread_equal(stream->thread, pthread_self());
            if (stream && stream->capture
                && (stream->mode == CU_STREAM_CAPTURE_MODE_GLOBAL || (own && stream->mode != CU_STREAM_CAPTURE_MODE_RELAXED))) {
                result = cu_capture_break(stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
            }
        }
    }
    pthread_mutex_unlock(&cu_lock);
    return result;
}

CU_IN_CONTEXT(cuStreamBeginCapture_v2, (CUstream handle, CUstreamCaptureMode mode), (handle, mode))
{
    CU_NEED(mode <= CU_STREAM_CAPTURE_MODE_RELAXED)
    pthread_mutex_lock(&cu_lock);
    cu_stream_t *stream = cu_stream(call, handle);
    bool standard = stream == &call->context->standard;
    CUresult result = !stream           ? CUDA_ERROR_INVALID_HANDLE
                      : standard        ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                      : stream->capture ? CUDA_ERROR_ILLEGAL_STATE
                                        : CUDA_SUCCESS;
    cu_nodes_t *nodes = result == CUDA_SUCCESS ? malloc(sizeof *nodes) : NULL;
    if (nodes) {
        *nodes = (cu_nodes_t){1, NULL, &nodes->first};
        stream->capture = nodes;
        stream->invalid = false;
        stream->mode = mode;
        stream->thread = pthread_self();
    } else if (result == CUDA_SUCCESS) {
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_unlock(&cu_lock);
    return result;
}

/* Adds an object that holds the nodes too. With cu_lock held. */
static CUresult hold(cu_context_t *context, cu_kind_t kind, cu_nodes_t *nodes, struct cu_graph **graph)
{
    *graph = cu_object_add(context, kind, sizeof **graph);
    if (!*graph) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    (*graph)->nodes = nodes;
    nodes->holders++;
    return CUDA_SUCCESS;
}

/* One that is no longer valid gives no graph. */
CU_IN_CONTEXT(cuStreamEndCapture, (CUstream handle, CUgraph *graph), (handle, graph))
{
    CU_NEED(graph)
    *graph = NULL;
    pthread_mutex_lock(&cu_lock);
    cu_stream_t *stream = cu_stream(call, handle);
    CUresult result = !stream            ? CUDA_ERROR_INVALID_HANDLE
                      : !stream->capture ? CUDA_ERROR_ILLEGAL_STATE
                      : stream->mode != CU_STREAM_CAPTURE_MODE_RELAXED && !pthread_equal(stream->thread, pthread_self())
                          ? CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
                          : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS) {
        result = stream->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                                 : hold(call->context, CU_IS_GRAPH, stream->capture, graph);
        let_go(stream->capture);
        stream->capture = NULL;
    }
    pthread_mutex_unlock(&cu_lock);
    return result;
}

/* The flags must be 0. */
CU_IN_CONTEXT(cuGraphInstantiateWithFlags, (CUgraphExec * executable, CUgraph graph, unsigned long long flags),
              (executable, graph, flags))
{
    CU_NEED(executable && flags == 0)
    pthread_mutex_lock(&cu_lock);
    cu_context_t *owner = cu_object_owner(CU_IS_GRAPH, graph);
    CUresult result = owner ? hold(owner, CU_IS_EXECUTABLE, graph->nodes, executable) : CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_unlock(&cu_lock);
    (void)call;
    return result;
}

static CUresult destroy(cu_kind_t kind, struct cu_graph *graph)
{
    pthread_mutex_lock(&cu_lock);
    cu_context_t *owner = cu_object_owner(kind, graph);
    bool removed = owner && cu_object_remove(owner, kind, graph);
    pthread_mutex_unlock(&cu_lock);
    return removed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CU_ANYWHERE(cuGraphDestroy, CU_DRIVER, (CUgraph graph), (graph))
{
    (void)call;
    return destroy(CU_IS_GRAPH, graph);
}

CU_ANYWHERE(cuGraphExecDestroy, CU_DRIVER, (CUgraphExec executable), (executable))
{
    (void)call;
    return destroy(CU_IS_EXECUTABLE, executable);
}

/* Not as a part of another graph. */
CU_IN_CONTEXT(cuGraphLaunch, (CUgraphExec executable, CUstream handle), (executable, handle))
{
    pthread_mutex_lock(&cu_lock);
    cu_stream_t *stream = cu_stream(call, handle);
    bool known = cu_object_owner(CU_IS_EXECUTABLE, executable) == call->context;
    CUresult result = !known            ? CUDA_ERROR_INVALID_VALUE
                      : !stream         ? CUDA_ERROR_INVALID_HANDLE
                      : stream->capture ? cu_capture_break(stream, CUDA_ERROR_NOT_SUPPORTED)
                                        : CUDA_SUCCESS;
    cu_nodes_t *nodes = result == CUDA_SUCCESS ? executable->nodes : NULL;
    if (nodes) {
        nodes->holders++;
    }
    pthread_mutex_unlock(&cu_lock);
    for (node_t *node = nodes ? nodes->first : NULL; node && result == CUDA_SUCCESS; node = node->next) {
        result = node->replay(call, handle, node->work);
    }
    if (nodes) {
        pthread_mutex_lock(&cu_lock);
        let_go(nodes);
        pthread_mutex_unlock(&cu_lock);
    }
    return result;
}
