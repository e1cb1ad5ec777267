/*
 * How firmware calls a compiled classifier. The files of `make demo` serve as the model:
 *
 *     arm-none-eabi-gcc -mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-d16 \
 *         -std=c99 -O2 -ffp-contract=off -I build/demo/breast_cancer-cortex-m7 \
 *         -c examples/board/main.c build/demo/breast_cancer-cortex-m7/breast_cancer.c
 *
 * Link both with your board's start-up code and with a file that has the four functions below.
 */
#include "breast_cancer.h"

/* Fills the features in the order and units of training; false when there is nothing to classify. */
extern bool board_read_sample(float x[BREAST_CANCER_N_FEATURES]);

/* Takes a result: the class's name and whether the label is proved to be the trained model's. */
extern void board_show(const char *class_name, bool certified);

/* Takes an input that the model cannot classify, or a table that was damaged. */
extern void board_show_error(breast_cancer_status_t status);

/* Tells the watchdog that the program is alive. */
extern void board_feed_watchdog(void);

/* All working memory is the caller's; one workspace for each task that classifies. */
static breast_cancer_workspace_t workspace;

/* Reads back every table; in steps, so that a watchdog can be fed between them. */
static breast_cancer_status_t test_tables(void)
{
    static breast_cancer_self_test_t test;
    breast_cancer_status_t status = BREAST_CANCER_OK;

    test = (breast_cancer_self_test_t){0};
    while ((status == BREAST_CANCER_OK) && !test.done) {
        status = breast_cancer_self_test_step(&test);
        board_feed_watchdog();
    }
    return status;
}

int main(void)
{
    float x[BREAST_CANCER_N_FEATURES];
    breast_cancer_result_t result;
    breast_cancer_status_t status = test_tables();

    if (status != BREAST_CANCER_OK) {
        board_show_error(status);
        return 1;
    }
    while (board_read_sample(x)) {
        status = breast_cancer_classify_float(&workspace, x, &result);
        if (status == BREAST_CANCER_OK) {
            board_show(breast_cancer_class_names[result.label], result.certified);
        } else {
            board_show_error(status);
        }
        board_feed_watchdog();
    }
    return 0;
}
