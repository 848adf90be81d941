#include <lcms2.h>
#include <vips/vips.h>

#include "image_render.h"

/* The classes behind the kinds, as vips_operation_block_set names them. */
static const char *loaders[] = {
	[PICTURE_JPEG] = "VipsForeignLoadJpegBuffer",
	[PICTURE_PNG] = "VipsForeignLoadPngBuffer",
	[PICTURE_PDF] = "VipsForeignLoadPdfBuffer",
};

/* A page of a few points is not blown up beyond this many times its size at 72 dpi. */
#define MAX_SCALE 4.0

/* Set when a decoder that has ended says that it has warned. */
static gboolean warned;

/*
 * libvips looks for warnings of libjpeg before it reads the next lines only, so those about the last lines are not an error
 * of the load, whatever fail_on is; they are told as a log message when the decoder ends.
 */
static void
listen(const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data)
{
	if (g_str_has_prefix(message, "read gave "))
		warned = TRUE;
}

/*
 * The PDF loader is one of several modules, and loading them takes longer than decoding a small image: libvips looks for its
 * modules under VIPSHOME.
 */
int
picture_start(enum picture_kind kind)
{
	if (kind == PICTURE_PDF)
		g_unsetenv("VIPSHOME");
	else
		g_setenv("VIPSHOME", "/nonexistent", TRUE);
	if (VIPS_INIT("stoa"))
		return -1;
	g_log_set_handler("VIPS", G_LOG_LEVEL_WARNING, listen, NULL);
	vips_cache_set_max(0);
	vips_concurrency_set(1);
	vips_operation_block_set("VipsForeignLoad", TRUE);
	vips_operation_block_set(loaders[kind], FALSE);
	return 0;
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
 * Images are read in one pass. At 1/shrink of its size a JPEG's coefficients are all decoded too, so a cut is seen.
 */
static int
load(enum picture_kind kind, const void *file, size_t length, int longest, int shrink, VipsImage **out)
{
	switch (kind) {
	case PICTURE_JPEG:
		return vips_jpegload_buffer((void *) file, length, out,
			"access", VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_WARNING, "shrink", shrink, NULL);
	case PICTURE_PNG:
		return vips_pngload_buffer((void *) file, length, out,
			"access", VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_ERROR, NULL);
	case PICTURE_PDF:
		return load_page(file, length, longest, out);
	}
	return -1;
}

/*
 * The rendering intent for which a profile has a table: the relative colorimetric one if it can be had, else the one there
 * is, so that a profile with only a perceptual table counts. -1 for a profile that cannot be used.
 */
static int
intent_of(VipsImage *in)
{
	static const VipsIntent order[] = {
		VIPS_INTENT_RELATIVE, VIPS_INTENT_PERCEPTUAL, VIPS_INTENT_SATURATION, VIPS_INTENT_ABSOLUTE,
	};
	const void *data;
	size_t length;
	cmsHPROFILE profile;
	int found = -1;

	if (vips_image_get_blob(in, VIPS_META_ICC_NAME, &data, &length))
		return -1;
	if (!(profile = cmsOpenProfileFromMem(data, length)))
		return -1;
	for (size_t i = 0; i < G_N_ELEMENTS(order) && found < 0; i++)
		if (cmsIsIntentSupported(profile, order[i], LCMS_USED_AS_INPUT))
			found = order[i];
	cmsCloseProfile(profile);
	return found;
}

/* The profile of a picture that only says gamma and primaries: grey for one or two bands, else RGB. */
static cmsHPROFILE
profile_of(const struct picture_colours *c, int bands)
{
	const cmsCIExyY white = c->white[0] > 0 ? (cmsCIExyY) { c->white[0], c->white[1], 1 } : (cmsCIExyY) { 0.3127, 0.3290, 1 };
	const cmsCIExyYTRIPLE primaries = c->white[0] > 0
		? (cmsCIExyYTRIPLE) { { c->red[0], c->red[1], 1 }, { c->green[0], c->green[1], 1 }, { c->blue[0], c->blue[1], 1 } }
		: (cmsCIExyYTRIPLE) { { 0.64, 0.33, 1 }, { 0.30, 0.60, 1 }, { 0.15, 0.06, 1 } };
	cmsToneCurve *curve, *curves[3];
	cmsHPROFILE profile;

	if (!(curve = cmsBuildGamma(NULL, c->gamma)))
		return NULL;
	curves[0] = curves[1] = curves[2] = curve;
	profile = bands < 3 ? cmsCreateGrayProfile(cmsD50_xyY(), curve) : cmsCreateRGBProfile(&white, &primaries, curves);
	cmsFreeToneCurve(curve);
	return profile;
}

/* Gives a picture the profile of its gamma and primaries; without an effect where no profile comes of them. */
static void
describe(VipsImage *in, const struct picture_colours *colours)
{
	cmsHPROFILE profile;
	cmsUInt32Number length = 0;
	void *data;

	if (!(profile = profile_of(colours, in->Bands)))
		return;
	if (cmsSaveProfileToMem(profile, NULL, &length) && (data = g_try_malloc(length))) {
		if (cmsSaveProfileToMem(profile, data, &length))
			vips_image_set_blob_copy(in, VIPS_META_ICC_NAME, data, length);
		g_free(data);
	}
	cmsCloseProfile(profile);
}

/*
 * Upright, sRGB and no larger than `longest`. Colour goes through the picture's profile if it has one; without one, an export
 * profile would shift colours that are sRGB already.
 */
static int
upright(VipsImage *in, int longest, VipsImage **out)
{
	VipsImage *sized;
	int intent, failed;

	if (vips_image_get_typeof(in, VIPS_META_ICC_NAME)) {
		if ((intent = intent_of(in)) < 0)
			return -1;
		failed = vips_thumbnail_image(in, &sized, longest,
			"height", longest, "size", VIPS_SIZE_DOWN, "export_profile", "srgb", "intent", intent, NULL);
	} else
		failed = vips_thumbnail_image(in, &sized, longest,
			"height", longest, "size", VIPS_SIZE_DOWN, NULL);
	if (failed)
		return -1;
	failed = vips_colourspace(sized, out, VIPS_INTERPRETATION_sRGB, NULL);
	g_object_unref(sized);
	return failed;
}

/* On white, and 8 bits a sample. */
static int
flatten(VipsImage *in, VipsImage **out)
{
	VipsArrayDouble *white;
	int failed;

	if (!vips_image_hasalpha(in))
		return vips_cast(in, out, VIPS_FORMAT_UCHAR, "shift", TRUE, NULL);
	white = vips_array_double_newv(1, 255.0);
	failed = vips_flatten(in, out, "background", white, NULL);
	vips_area_unref(VIPS_AREA(white));
	return failed;
}

/* Where a picture's colours come from, the first one first: its own profile, its gamma, and sRGB as it is. */
enum source { SOURCE_PROFILE, SOURCE_GAMMA, SOURCE_PLAIN };

/* Whether a decoded picture has colours of a source. */
static gboolean
has(VipsImage *in, const struct picture_colours *colours, enum source source)
{
	switch (source) {
	case SOURCE_PROFILE:
		return vips_image_get_typeof(in, VIPS_META_ICC_NAME) != 0;
	case SOURCE_GAMMA:
		return colours->gamma > 0;
	default:
		return TRUE;
	}
}

/* Makes the picture of decoded pixels, with the colours of a source. */
static int
make(VipsImage *in, int longest, const struct picture_colours *colours, enum source source, struct picture *out)
{
	VipsImage *copy, *srgb = NULL, *flat = NULL;
	size_t size;
	int failed = -1;

	if (vips_copy(in, &copy, NULL))
		return -1;
	if (source != SOURCE_PROFILE)
		vips_image_remove(copy, VIPS_META_ICC_NAME);
	if (source == SOURCE_GAMMA)
		describe(copy, colours);
	if (!upright(copy, longest, &srgb) && !flatten(srgb, &flat) && flat->Bands == 3 &&
		(out->pixels = vips_image_write_to_memory(flat, &size))) {
		out->width = flat->Xsize;
		out->height = flat->Ysize;
		failed = 0;
	}
	VIPS_UNREF(flat);
	VIPS_UNREF(srgb);
	g_object_unref(copy);
	return failed;
}

/*
 * The file is decoded into memory first, to its last line: a picture that is made smaller line by line may not need its last
 * lines, and would not notice that they are missing.
 */
int
picture_render(enum picture_kind kind, const void *file, size_t length, int longest, int shrink,
	const struct picture_colours *colours, struct picture *out)
{
	VipsImage *in, *decoded;
	int failed = -1;

	warned = FALSE;
	if (load(kind, file, length, longest, shrink, &in))
		return -1;
	decoded = vips_image_copy_memory(in);
	g_object_unref(in);
	if (!decoded)
		return -1;
	out->swapped = vips_image_get_orientation_swap(decoded);
	out->pages = vips_image_get_n_pages(decoded);
	/* A bad profile is no fault of the picture. */
	for (enum source source = SOURCE_PROFILE; failed && source <= SOURCE_PLAIN; source++)
		if (has(decoded, colours, source))
			failed = make(decoded, longest, colours, source, out);
	g_object_unref(decoded); /* ends the decoder */
	if (!failed && warned) {
		g_free(out->pixels);
		return -1;
	}
	return failed;
}

int
picture_jpeg(void *pixels, int width, int height, int quality, int full_chroma, void **jpeg, size_t *length)
{
	VipsImage *in, *srgb;
	int failed;

	if (!(in = vips_image_new_from_memory(pixels, (size_t) width * height * 3, width, height, 3, VIPS_FORMAT_UCHAR)))
		return -1;
	failed = vips_copy(in, &srgb, "interpretation", VIPS_INTERPRETATION_sRGB, NULL);
	g_object_unref(in);
	if (failed)
		return -1;
	failed = vips_jpegsave_buffer(srgb, jpeg, length, "Q", quality, "strip", TRUE, "optimize_coding", TRUE,
		"subsample_mode", full_chroma ? VIPS_FOREIGN_SUBSAMPLE_OFF : VIPS_FOREIGN_SUBSAMPLE_ON, NULL);
	g_object_unref(srgb);
	return failed;
}
