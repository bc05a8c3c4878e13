/* Names and descriptions of results. */
#include "cuda_sim.h"

typedef struct {
    CUresult number;
    const char *name, *text;
} row_t;

#define ROW(name, number, text) {name, #name, text},
static const row_t rows[] = {CUDA_RESULTS(ROW)};

static const row_t *find(CUresult result)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].number == result) {
            return &rows[i];
        }
    }
    return NULL;
}

/* An unknown number gives NULL and 1. */
CU_ANYWHERE(cuGetErrorName, CU_ALWAYS, (CUresult number, const char **name), (number, name))
{
    (void)call;
    const row_t *row = find(number);
    CU_NEED(name)
    *name = row ? row->name : NULL;
    return row ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CU_ANYWHERE(cuGetErrorString, CU_ALWAYS, (CUresult number, const char **text), (number, text))
{
    (void)call;
    const row_t *row = find(number);
    CU_NEED(text)
    *text = row ? row->text : NULL;
    return row ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
