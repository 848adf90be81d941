#include <stddef.h>

/* The loaders there are; the order is that of decode.go. */
enum picture_kind { PICTURE_JPEG, PICTURE_PNG, PICTURE_PDF };

/* What a decoded file is known by: pixels as displayed, and pages of a PDF. */
struct picture_facts {
	int width, height, pages;
};

/* picture_start closes every loader of libvips and its operation cache. Call it once. */
void picture_start(void);

/* picture_allow opens (or closes again) the one loader of a kind. */
void picture_allow(enum picture_kind kind, int allow);

/*
 * picture_normalise decodes a whole file, refusing what its decoder complains about, and returns it upright, in sRGB, on
 * white, no side longer than `longest`, as an uncompressed PNG without metadata, to be freed with g_free. 0 on success.
 */
int picture_normalise(enum picture_kind kind, const void *file, size_t length, int longest,
	struct picture_facts *facts, void **png, size_t *png_length);
