package inspection

// Renderer makes the previews and copies of a file that passed the scan. Package render is the only one: it links libvips, which
// the server must not, so the program that starts the child passes it to Main.
type Renderer interface {
	// JPEG makes a JPEG on white, without metadata, of an image or a PDF's page: upright, in sRGB, no side longer than
	// longest. A graphic that would take more than room is encoded as a photograph.
	JPEG(s Source, longest int, room func(width, height int) int) (Rendered, error)
	// PNG makes a PNG without metadata of a PNG: upright, in sRGB, no side longer than longest, with all its colours.
	PNG(s Source, longest int) (Rendered, error)
}

// Source is a file to render.
type Source struct {
	File []byte
	Type MediaType
	// Page of a PDF, from 1 on; 0 is the first, too.
	Page int
	// Colours of a PNG without a profile; nil if it says nothing that counts.
	Colours *Colours
}

// Rendered is the result of a Renderer.
type Rendered struct {
	File []byte
	// Swapped reports whether displaying the file exchanges its width and height.
	Swapped bool
	// Pages of a PDF, 1 for an image.
	Pages int
}

// previewRoom bounds a preview in bytes: what an upload reserves for it.
func previewRoom(width, height int) int {
	const most, headers, perPixel = 1 << 20, 4 << 10, 3
	return min(most, headers+perPixel*width*height)
}

// publishedRoom bounds a published image in bytes, whatever its size in pixels.
func publishedRoom(int, int) int { return maxWritten }
