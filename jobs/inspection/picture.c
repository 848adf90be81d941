#include <vips/vips.h>

#include "picture.h"

/* The classes behind the kinds, as vips_operation_block_set names them. */
static const char *loaders[] = {
	[PICTURE_JPEG] = "VipsForeignLoadJpegBuffer",
	[PICTURE_PNG] = "VipsForeignLoadPngBuffer",
	[PICTURE_PDF] = "VipsForeignLoadPdfBuffer",
};

/* A page of a few points is not blown up beyond this many times its size at 72 dpi. */
#define MAX_SCALE 4.0

void
picture_start(void)
{
	vips_cache_set_max(0);
	vips_concurrency_set(1);
	vips_operation_block_set("VipsForeignLoad", TRUE);
}

void
picture_allow(enum picture_kind kind, int allow)
{
	vips_operation_block_set(loaders[kind], !allow);
}

/* A PDF's first page at the scale where its longest side is `longest` pixels. */
static int
load_page(const void *file, size_t length, int longest, VipsImage **out)
{
	VipsImage *plain;
	double scale;

	if (vips_pdfload_buffer((void *) file, length, &plain, NULL))
		return -1;
	scale = VIPS_MIN((double) longest / VIPS_MAX(plain->Xsize, plain->Ysize), MAX_SCALE);
	g_object_unref(plain);
	return vips_pdfload_buffer((void *) file, length, out, "scale", scale, "fail_on", VIPS_FAIL_ON_ERROR, NULL);
}

/*
 * libjpeg warns of lost data only; libpng also of harmless things (profiles it dislikes), so there only its errors count.
 * Orientation needs any order of lines; everything else is read in one pass.
 */
static int
load(enum picture_kind kind, const void *file, size_t length, int longest, VipsImage **out)
{
	switch (kind) {
	case PICTURE_JPEG:
		return vips_jpegload_buffer((void *) file, length, out,
			"access", VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_WARNING, NULL);
	case PICTURE_PNG:
		return vips_pngload_buffer((void *) file, length, out,
			"access", VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_ERROR, NULL);
	case PICTURE_PDF:
		return load_page(file, length, longest, out);
	}
	return -1;
}

/*
 * Upright, sRGB and no larger than `longest`. Colour goes through the picture's own profile if it has one and `profile` is
 * set; without one, an export profile would shift colours that are sRGB already.
 */
static int
upright(VipsImage *in, int longest, gboolean profile, VipsImage **out)
{
	VipsImage *copy, *sized;
	int failed;

	if (vips_copy(in, &copy, NULL))
		return -1;
	if (!profile)
		vips_image_remove(copy, VIPS_META_ICC_NAME);
	if (vips_image_get_typeof(copy, VIPS_META_ICC_NAME))
		failed = vips_thumbnail_image(copy, &sized, longest,
			"height", longest, "size", VIPS_SIZE_DOWN, "export_profile", "srgb", NULL);
	else
		failed = vips_thumbnail_image(copy, &sized, longest,
			"height", longest, "size", VIPS_SIZE_DOWN, NULL);
	g_object_unref(copy);
	if (failed)
		return -1;
	failed = vips_colourspace(sized, out, VIPS_INTERPRETATION_sRGB, NULL);
	g_object_unref(sized);
	return failed;
}

static int
flatten(VipsImage *in, VipsImage **out)
{
	VipsArrayDouble *white;
	int failed;

	if (!vips_image_hasalpha(in))
		return vips_copy(in, out, NULL);
	white = vips_array_double_newv(1, 255.0);
	failed = vips_flatten(in, out, "background", white, NULL);
	vips_area_unref(VIPS_AREA(white));
	return failed;
}

static int
normalise(enum picture_kind kind, const void *file, size_t length, int longest, gboolean profile,
	struct picture_facts *facts, void **png, size_t *png_length)
{
	VipsImage *in, *srgb = NULL, *flat = NULL;
	gboolean swap;
	int failed = -1;

	if (load(kind, file, length, longest, &in))
		return -1;
	swap = vips_image_get_orientation_swap(in);
	facts->width = swap ? in->Ysize : in->Xsize;
	facts->height = swap ? in->Xsize : in->Ysize;
	facts->pages = vips_image_get_n_pages(in);
	if (!upright(in, longest, profile, &srgb) && !flatten(srgb, &flat))
		failed = vips_pngsave_buffer(flat, png, png_length,
			"strip", TRUE, "compression", 0, "filter", VIPS_FOREIGN_PNG_FILTER_NONE, "bitdepth", 8, NULL);
	VIPS_UNREF(flat);
	VIPS_UNREF(srgb);
	g_object_unref(in);
	return failed;
}

int
picture_normalise(enum picture_kind kind, const void *file, size_t length, int longest,
	struct picture_facts *facts, void **png, size_t *png_length)
{
	int failed = normalise(kind, file, length, longest, TRUE, facts, png, png_length);

	/* Once more without the profile: a bad one is no fault of the picture, and a bad picture fails again. */
	if (failed)
		failed = normalise(kind, file, length, longest, FALSE, facts, png, png_length);
	return failed;
}
