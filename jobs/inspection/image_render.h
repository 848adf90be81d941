#include <stddef.h>

/* The loaders there are; the order is that of image_render.go. */
enum picture_kind { PICTURE_JPEG, PICTURE_PNG, PICTURE_PDF };

/*
 * What a PNG says of its colours in gAMA and cHRM: the exponent of the samples, and x and y of white, red, green and blue.
 * A gamma of 0 means that it says nothing that counts; a white of 0 means the primaries of sRGB.
 */
struct picture_colours {
	double gamma;
	double white[2], red[2], green[2], blue[2];
};

/* A rendered picture: rows of 8-bit sRGB triples, to be freed with g_free, and what its file is known by. */
struct picture {
	void *pixels;
	int width, height;
	/* Whether displaying the file exchanges its width and height. */
	int swapped;
	/* The pages of a PDF, 1 for an image. */
	int pages;
};

/*
 * picture_start starts libvips with all its loaders closed but the one of a kind. Call it once a process: where it was called
 * for an image, PDFs cannot be loaded any more. 0 on success.
 */
int picture_start(enum picture_kind kind);

/*
 * picture_render decodes a whole file and refuses what its decoder complains about. The picture is upright, in sRGB, on white,
 * and no side is longer than `longest`. A JPEG is decoded at 1/shrink of its size; shrink is 1, 2, 4 or 8. 0 on success.
 */
int picture_render(enum picture_kind kind, const void *file, size_t length, int longest, int shrink,
	const struct picture_colours *colours, struct picture *out);

/* picture_jpeg makes a JPEG without metadata of rendered pixels, to be freed with g_free. 0 on success. */
int picture_jpeg(void *pixels, int width, int height, int quality, int full_chroma, void **jpeg, size_t *length);
