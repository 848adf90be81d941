package inspection

import (
	"maps"
	"slices"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// The parts that make a PDF active (§2.7). The tables are used twice: by the scan over the raw bytes (pdf_scan.go) and by the
// walk over the objects that pdfcpu read, below.

// activeActions are the types of action (a dictionary's /S) that are refused wherever they stand, activeAnnotations the types of
// annotation (a dictionary's /Subtype), and activeKeys the entries that are refused with any value except null.
var (
	activeActions = []string{
		"JavaScript", "Launch", "SubmitForm", "ImportData", "GoToR", "GoToE", "Rendition", "Movie", "Sound", "RichMediaExecute",
		"GoTo3DView",
	}
	activeAnnotations = []string{"FileAttachment", "Movie", "Sound", "RichMedia", "3D"}
	activeKeys        = []string{"JavaScript", "EmbeddedFiles", "XFA"}
)

// fileKeys are the entries for an attached file; an /EF dictionary holds at least one of them.
var fileKeys = []string{"F", "UF", "DOS", "Mac", "Unix"}

// Entries whose value decides.
const (
	keyAction       = "S"
	keySubtype      = "Subtype"
	keyScript       = "JS"
	keyOpenAction   = "OpenAction"
	keyMoreActions  = "AA"
	keyNext         = "Next"
	keyDestination  = "D"
	keyFile         = "EF"
	keyFileSystem   = "FS"
	urlSystem       = "URL"
	keyStreamFile   = "F" // in a stream's dictionary: another place of its data
	keyEncryption   = "Encrypt"
	actionGoTo      = "GoTo"
	objectStreamTag = "ObjStm"
)

// active walks one object and everything written inside it, and refuses the entries that the tables name, also if their values
// are references.
func (d *document) active(o types.Object, depth int) error {
	if depth > maxNesting {
		return refusedNesting
	}
	if list, ok := o.(types.Array); ok {
		for _, item := range list {
			if err := d.active(item, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	dict := entries(o)
	_, stream := streamEntries(o)
	for _, key := range slices.Sorted(maps.Keys(dict)) {
		known := unescape([]byte(key))
		if d.activeEntry(known, dict[key]) || stream && d.external(known, dict[key]) {
			return refusedActive
		}
		if linkKeys[known] && d.strays(dict[key]) {
			return refusedLink
		}
		if err := d.active(dict[key], depth+1); err != nil {
			return err
		}
	}
	return nil
}

// activeEntry reports whether an entry of a dictionary is active.
func (d *document) activeEntry(key string, value types.Object) bool {
	value = d.resolve(value)
	if value == nil {
		return false
	}
	switch key {
	case keyAction:
		return slices.Contains(activeActions, name(value))
	case keySubtype:
		return slices.Contains(activeAnnotations, name(value))
	case keyScript:
		return d.script(value)
	case keyFileSystem:
		return name(value) == urlSystem
	case keyOpenAction:
		return !d.stays(value, 0)
	case keyMoreActions:
		return d.leaves(value)
	case keyFile:
		files, ok := value.(types.Dict)
		return ok && slices.ContainsFunc(fileKeys, func(key string) bool { return d.entry(files, key) != nil })
	}
	return slices.Contains(activeKeys, key)
}

// external reports whether an entry of a stream's dictionary places its data in another file or behind a URL.
func (d *document) external(key string, value types.Object) bool {
	switch d.resolve(value).(type) {
	case types.StringLiteral, types.HexLiteral, types.Dict:
		return key == keyStreamFile
	}
	return false
}

// script reports whether a value of /JS is a script: a string or a stream, not a picture or font that merely has this name.
func (d *document) script(value types.Object) bool {
	switch value := value.(type) {
	case types.StringLiteral, types.HexLiteral:
		return true
	default:
		dict, stream := streamEntries(value)
		return stream && d.entry(dict, keySubtype) == nil
	}
}

// leaves reports whether additional actions do anything but go to a page of this file. A value that is not a dictionary of
// dictionaries is not additional actions: glyphs and resources may have any name.
func (d *document) leaves(value types.Object) bool {
	events, ok := value.(types.Dict)
	if !ok {
		return false
	}
	for _, action := range events {
		if action, ok := d.resolve(action).(types.Dict); ok && d.entry(action, keyAction) != nil && !d.stays(action, 0) {
			return true
		}
	}
	return false
}

// stays reports whether an opening or additional action only goes to a page of this file: a destination, or a GoTo action
// whose successors only do so too.
func (d *document) stays(value types.Object, depth int) bool {
	if depth > maxNesting {
		return false
	}
	switch value := d.resolve(value).(type) {
	case types.Array, types.Name, types.StringLiteral, types.HexLiteral:
		return true
	case types.Dict:
		if len(value) == 0 {
			return true
		}
		if name(d.entry(value, keyAction)) != actionGoTo || d.entry(value, keyDestination) == nil {
			return false
		}
		next := d.entry(value, keyNext)
		if several, ok := next.(types.Array); ok {
			return !slices.ContainsFunc(several, func(one types.Object) bool { return !d.stays(one, depth+1) })
		}
		return next == nil || d.stays(next, depth+1)
	}
	return false
}

// entries returns a dictionary, or the dictionary of a stream; nil for anything else.
func entries(o types.Object) types.Dict {
	dict, ok := o.(types.Dict)
	if !ok {
		dict, _ = streamEntries(o)
	}
	return dict
}

// streamEntries returns the dictionary of a stream; pdfcpu has several types of streams.
func streamEntries(o types.Object) (types.Dict, bool) {
	switch o := o.(type) {
	case types.StreamDict:
		return o.Dict, true
	case types.ObjectStreamDict:
		return o.Dict, true
	case types.XRefStreamDict:
		return o.Dict, true
	}
	return nil, false
}

// name returns a name's text, empty for anything else.
func name(o types.Object) string {
	if n, ok := o.(types.Name); ok {
		return unescape([]byte(n))
	}
	return ""
}
