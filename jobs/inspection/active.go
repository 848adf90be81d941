package inspection

// What makes a PDF active (§8 and its contract): these tables are read twice, by the scan over the raw bytes (scan_pdf.go)
// and by the walk over what pdfcpu read (pdf_active.go).

// activeActions are the types of action (a dictionary's /S) that are refused wherever they stand.
var activeActions = map[string]bool{
	"JavaScript":       true,
	"Launch":           true,
	"SubmitForm":       true,
	"ImportData":       true,
	"GoToR":            true,
	"GoToE":            true,
	"Rendition":        true,
	"Movie":            true,
	"Sound":            true,
	"RichMediaExecute": true,
	"GoTo3DView":       true,
}

// activeAnnotations are the types of annotation (a dictionary's /Subtype) that are refused.
var activeAnnotations = map[string]bool{
	"FileAttachment": true,
	"Movie":          true,
	"Sound":          true,
	"RichMedia":      true,
	"3D":             true,
}

// activeKeys are entries that are refused whatever they hold, null aside.
var activeKeys = map[string]bool{
	"JavaScript":    true,
	"EmbeddedFiles": true,
	"XFA":           true,
}

// fileKeys are the entries of which an /EF dictionary holds at least one: an attached file.
var fileKeys = []string{"F", "UF", "DOS", "Mac", "Unix"}

// Entries that need a look at their value.
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
	keyStreamFile   = "F" // in a stream's dictionary: where its data lie instead
	keyEncryption   = "Encrypt"
	actionGoTo      = "GoTo"
	objectStreamTag = "ObjStm"
)
