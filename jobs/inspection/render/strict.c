#define _GNU_SOURCE
#include <dlfcn.h>
#include <gmodule.h>
#include <lcms2.h>
#include "strict.h"

/* libvips builds an operation by "build" of its class. These functions run before that and set options that bimg lacks. */
enum { TRANSFORM = STRICT_OWN + 1 };
static struct { const char *class; VipsFailOn fail_on; int (*build)(VipsObject *); } classes[] = {
	[STRICT_JPEG] = { "VipsForeignLoadJpegBuffer", VIPS_FAIL_ON_WARNING }, /* libjpeg warns of lost data only */
	[STRICT_PNG] = { "VipsForeignLoadPngBuffer", VIPS_FAIL_ON_ERROR },
	[STRICT_PDF] = { "VipsForeignLoadPdfBuffer", VIPS_FAIL_ON_ERROR },
	[STRICT_OWN] = { "VipsForeignLoadTiffBuffer", VIPS_FAIL_ON_WARNING },
	[TRANSFORM] = { "VipsIccTransform" },
};
static enum strict_loader opened;
struct strict_load strict_load;

/* libvips looks for warnings of libjpeg before it reads the next lines: those of the last lines are only logged at the end. */
static void listen(const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data)
{
	strict_load.warned |= g_str_has_prefix(message, "read gave ");
}

/* Makes the profile of a picture from its gamma and from x and y of white, red, green and blue. */
static void describe(VipsImage *image, double gamma, const double *p)
{
	const cmsCIExyY white = { p[0], p[1], 1 };
	const cmsCIExyYTRIPLE primaries = { { p[2], p[3], 1 }, { p[4], p[5], 1 }, { p[6], p[7], 1 } };
	cmsToneCurve *curve = cmsBuildGamma(NULL, gamma), *curves[] = { curve, curve, curve };
	cmsHPROFILE rgb = cmsCreateRGBProfile(&white, &primaries, curves), grey = cmsCreateGrayProfile(cmsD50_xyY(), curve);
	char data[8192];
	cmsUInt32Number length = sizeof data;

	if (cmsSaveProfileToMem(image->Bands < 3 ? grey : rgb, data, &length))
		vips_image_set_blob_copy(image, VIPS_META_ICC_NAME, data, length);
	cmsCloseProfile(rgb);
	cmsCloseProfile(grey);
	cmsFreeToneCurve(curve);
}

/* A load: warnings are errors, a PDF's page has the size asked for, a PNG's gamma counts. */
static int load(VipsObject *object)
{
	VipsForeignLoad *load = VIPS_FOREIGN_LOAD(object);

	load->fail_on = classes[opened].fail_on;
	if (strict_load.scale > 0)
		g_object_set(object, "scale", strict_load.scale, NULL);
	if (strict_load.page > 0)
		g_object_set(object, "page", strict_load.page, NULL);
	if (classes[opened].build(object))
		return -1;
	strict_load.pages = vips_image_get_n_pages(load->out);
	if (strict_load.gamma > 0)
		describe(load->out, strict_load.gamma, strict_load.points);
	return 0;
}

/* A conversion to sRGB: by a rendering intent for which the profile has a table, preferably the relative colorimetric one. */
static int transform(VipsObject *object)
{
	static const VipsIntent order[] = { VIPS_INTENT_RELATIVE, VIPS_INTENT_PERCEPTUAL, VIPS_INTENT_SATURATION, VIPS_INTENT_ABSOLUTE };
	VipsImage *in = NULL;
	cmsHPROFILE profile = NULL;
	const void *data;
	size_t length, i = 0;

	g_object_get(object, "in", &in, NULL);
	if (in && !vips_image_get_blob(in, VIPS_META_ICC_NAME, &data, &length) && (profile = cmsOpenProfileFromMem(data, length))) {
		while (i < G_N_ELEMENTS(order) && !cmsIsIntentSupported(profile, order[i], LCMS_USED_AS_INPUT))
			i++;
		g_object_set(object, "intent", order[i % G_N_ELEMENTS(order)], "depth", in->BandFmt == VIPS_FORMAT_USHORT ? 16 : 8, NULL);
		cmsCloseProfile(profile);
	}
	VIPS_UNREF(in);
	return profile && i < G_N_ELEMENTS(order) ? classes[TRANSFORM].build(object) : -1;
}

static int stand_before(int row, int (*build)(VipsObject *))
{
	GType type = g_type_from_name(classes[row].class);
	VipsObjectClass *class = type ? g_type_class_ref(type) : NULL;

	if (class && class->build != build)
		classes[row].build = class->build, class->build = build;
	return class ? 0 : -1;
}

/* libvips starts without its modules, since loading all takes longer than most files. The loader of PDFs is one of them. */
static void load_module(void)
{
	char path[4096];
	Dl_info self;

	if (!dladdr((void *) vips_init, &self))
		return;
	g_snprintf(path, sizeof path, "%.*s/vips-modules-%d.%d/vips-poppler.so",
		(int) (strrchr(self.dli_fname, '/') - self.dli_fname), self.dli_fname, VIPS_MAJOR_VERSION, VIPS_MINOR_VERSION);
	g_module_open(path, G_MODULE_BIND_LAZY);
}

int strict_open(enum strict_loader loader)
{
	if ((opened = loader) == STRICT_PDF)
		load_module();
	g_log_set_handler("VIPS", G_LOG_LEVEL_WARNING, listen, NULL);
	vips_cache_set_max(0);
	vips_operation_block_set("VipsForeignLoad", TRUE);
	vips_operation_block_set(classes[loader].class, FALSE);
	return stand_before(TRANSFORM, transform) || stand_before(loader, load);
}
