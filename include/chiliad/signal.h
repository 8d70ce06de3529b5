/* The four modes in which a counter counts a signal.
 *
 * A signal is high or low in every cycle. A counter counts its rises, its falls, its high cycles or
 * its low cycles. The numbers are the codes of the counter unit's configuration field and of IBM's
 * edge constants.
 */
#ifndef CHILIAD_SIGNAL_H
#define CHILIAD_SIGNAL_H

#ifdef __cplusplus
extern "C" {
#endif

/* name, code, word in data files and on the command line, text */
#define CHIL_COUNT_MODES(X)                                                                        \
    X(CHIL_COUNT_HIGH, 0, "high", "cycles in which the signal is high")                            \
    X(CHIL_COUNT_RISE, 1, "rise", "changes from low to high")                                      \
    X(CHIL_COUNT_FALL, 2, "fall", "changes from high to low")                                      \
    X(CHIL_COUNT_LOW, 3, "low", "cycles in which the signal is low")

enum chil_count_mode {
#define CHIL_COUNT_MODE_ENUM(name, code, word, text) name = (code),
    CHIL_COUNT_MODES(CHIL_COUNT_MODE_ENUM)
#undef CHIL_COUNT_MODE_ENUM
};

/* "high", "rise", "fall", "low"; NULL for a number that is no mode. */
const char *chil_count_mode_word(int mode);
/* The mode for a word, or CHIL_ENOENT. */
int chil_count_mode_of(const char *word);

#ifdef __cplusplus
}
#endif
#endif
