#include <vips/vips.h>

/* The loaders of the types of files, and of files that package render made. strict_open closes all but one; 0 on success. */
enum strict_loader { STRICT_JPEG, STRICT_PNG, STRICT_PDF, STRICT_OWN };
int strict_open(enum strict_loader loader);

/* scale, page (from 0 on), gamma and points apply to the next load, 0 for none; pages and warned are its results. */
extern struct strict_load { double scale, gamma, points[8]; int page, pages, warned; } strict_load;
