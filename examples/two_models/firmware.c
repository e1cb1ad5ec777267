/* Two compiled models in one image: each has its prefix, its workspace and its tables. */
#include <stddef.h>

#include "iris.h"
#include "wine.h"

/* A task that uses both needs the larger of the two workspaces only: contents are not kept. */
static union {
    iris_workspace_t iris;
    wine_workspace_t wine;
} workspace;

const char *flower(const float x[IRIS_N_FEATURES]);
const char *cultivar(const float x[WINE_N_FEATURES]);

const char *flower(const float x[IRIS_N_FEATURES])
{
    iris_result_t result;

    if (iris_classify_float(&workspace.iris, x, &result) != IRIS_OK) {
        return NULL;
    }
    return iris_class_names[result.label];
}

const char *cultivar(const float x[WINE_N_FEATURES])
{
    wine_result_t result;

    if (wine_classify_float(&workspace.wine, x, &result) != WINE_OK) {
        return NULL;
    }
    return wine_class_names[result.label];
}
