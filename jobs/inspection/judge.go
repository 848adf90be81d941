package inspection

import (
	"bytes"
	"os"
)

// magics tells the media types apart by the bytes at offset 0, and by nothing else.
var magics = []struct {
	magic []byte
	media MediaType
}{
	{jpegMagic, JPEG},
	{pngMagic, PNG},
	{pdfMagic, PDF},
}

// judge inspects a file in the child: our own scan, then the libraries. It writes what the purpose makes, the preview or the
// published version, into the working folder. A refusal is the file's fault; any other error is the machine's.
func judge(file []byte, p Purpose) (verdict, error) {
	v, err := sniff(file, p)
	if err != nil {
		return v, err
	}
	if v.MediaType == PDF {
		v.Pages, err = judgePDF(file, p)
	} else {
		v.Width, v.Height, err = judgeImage(file, v.MediaType, p)
	}
	v.Accepted = err == nil
	return v, err
}

// sniff decides what a file is and whether the purpose takes it.
func sniff(file []byte, p Purpose) (verdict, error) {
	switch {
	case len(file) == 0:
		return verdict{}, refusedEmpty
	case len(file) > maxFile:
		return verdict{}, refusedSize
	}
	for _, t := range magics {
		switch {
		case !bytes.HasPrefix(file, t.magic):
			continue
		case !p.takes(t.media):
			return verdict{MediaType: t.media}, refusedPurpose
		case isArchive(file):
			return verdict{MediaType: t.media}, refusedArchive
		}
		return verdict{MediaType: t.media}, nil
	}
	return verdict{}, refusedUnknown
}

// facts are what a scan finds out about an image.
type facts struct {
	// size as stored, before orientation.
	size
	// colours of a PNG without a profile; nil where it says nothing that counts.
	colours *colours
}

// scans walk an image's structure, by media type.
var scans = map[MediaType]func([]byte) (facts, error){
	JPEG: func(file []byte) (facts, error) {
		size, err := scanJPEG(file)
		return facts{size: size}, err
	},
	PNG: scanPNG,
}

// judgeImage makes what the purpose asks for in the same pass that proves the whole image to be sound, and returns an accepted
// image's size as displayed.
func judgeImage(file []byte, t MediaType, p Purpose) (width, height int, err error) {
	found, err := scans[t](file)
	if err != nil {
		return 0, 0, err
	}
	made, longest, room := purposes[p].makes, previewSide, maxWritten
	if made == publishedName {
		longest = publishedSide
	}
	shown, err := render(file, t, found, longest)
	if err != nil {
		return 0, 0, err
	}
	defer shown.free()
	if made == previewName {
		room = previewRoom(shown.width, shown.height)
	}
	if shown.swapped {
		found.width, found.height = found.height, found.width
	}
	return found.width, found.height, shown.write(made, room)
}

// judgePDF makes what the purpose asks for and returns an accepted PDF's number of pages.
func judgePDF(file []byte, p Purpose) (pages int, err error) {
	if err := scanPDF(file); err != nil {
		return 0, err
	}
	document, err := openPDF(file)
	if err != nil {
		return 0, err
	}
	if err := document.check(); err != nil {
		return 0, err
	}
	if pages, err = document.pages(); err != nil {
		return 0, err
	}
	made := purposes[p].makes
	if made == previewName {
		rendered, err := previewPDF(file)
		if err != nil {
			return 0, err
		}
		if pages = max(pages, rendered); pages > maxPages {
			return 0, refusedPages
		}
	}
	if !purposes[p].rewrite {
		return pages, nil
	}
	written, err := document.published()
	if err == nil && made == publishedName {
		err = os.WriteFile(publishedName, written, 0o600)
	}
	return pages, err
}

// previewPDF writes a PDF's preview and returns how many pages its renderer counts.
func previewPDF(file []byte) (pages int, err error) {
	shown, err := render(file, PDF, facts{}, previewSide)
	if err != nil {
		return 0, err
	}
	defer shown.free()
	return shown.pages, shown.write(previewName, previewRoom(shown.width, shown.height))
}

// write writes the picture as a JPEG.
func (r raster) write(name string, room int) error {
	encoded, err := r.jpeg(room)
	if err != nil {
		return err
	}
	return os.WriteFile(name, encoded, 0o600)
}
