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

// judge inspects a file in the child: our own scan, then the libraries. It writes the preview and, where the purpose has
// one, the published version into the working folder. A refusal is the file's fault; any other error is the machine's.
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

// scans walk an image's structure, by media type.
var scans = map[MediaType]func([]byte) (size, error){JPEG: scanJPEG, PNG: scanPNG}

// judgeImage returns an accepted image's size as displayed.
func judgeImage(file []byte, t MediaType, p Purpose) (width, height int, err error) {
	if _, err := scans[t](file); err != nil {
		return 0, 0, err
	}
	png, found, err := normalise(file, t, publishedSide)
	if err != nil {
		return 0, 0, refusedUndecodable
	}
	if purposes[p].publish {
		if err := show(publishedName, png); err != nil {
			return 0, 0, err
		}
	}
	small, _, err := normalise(png, PNG, previewSide)
	if err != nil {
		return 0, 0, refusedUndecodable
	}
	return found.width, found.height, show(previewName, small)
}

// judgePDF returns an accepted PDF's number of pages.
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
	png, found, err := normalise(file, PDF, previewSide)
	if err != nil {
		return 0, refusedUndecodable
	}
	if pages = max(pages, found.pages); pages > maxPages {
		return 0, refusedPages
	}
	if err := show(previewName, png); err != nil {
		return 0, err
	}
	if !purposes[p].publish {
		return pages, nil
	}
	return pages, publish(document)
}

// show writes a normalised picture as a JPEG.
func show(name string, png []byte) error {
	jpeg, err := encode(png)
	if err != nil {
		return refusedUndecodable
	}
	return os.WriteFile(name, jpeg, 0o600)
}

// publish writes a PDF's published version, and reads it again: what cannot be read is not published.
func publish(d *document) error {
	f, err := os.OpenFile(publishedName, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := d.rewrite(f); err != nil {
		return err
	}
	written, err := os.ReadFile(publishedName)
	if err != nil {
		return err
	}
	again, err := openPDF(written)
	if err != nil {
		return err
	}
	_, err = again.pages()
	return err
}
