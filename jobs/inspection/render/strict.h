#include <vips/vips.h>

/* The loader for each type of file, and the one for what package render has made. strict_open closes all others. 0 on success. */
enum strict_loader { STRICT_JPEG, STRICT_PNG, STRICT_PDF, STRICT_OWN };
int strict_open(enum strict_loader loader);

/* scale, page (from 0 on), gamma and points are for the next load, 0 for none; pages and warned are what it found. */
extern struct strict_load { double scale, gamma, points[8]; int page, pages, warned; } strict_load;
