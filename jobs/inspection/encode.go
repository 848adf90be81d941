package inspection

import "github.com/h2non/bimg"

const jpegQuality = 85

// encode makes a JPEG of a normalised PNG: the same pixels, no metadata.
func encode(png []byte) ([]byte, error) {
	defer allow(PNG)()
	return bimg.NewImage(png).Process(bimg.Options{
		Type: bimg.JPEG, Quality: jpegQuality, StripMetadata: true, NoAutoRotate: true,
	})
}
