package inspection

import (
	"bytes"
	"encoding/binary"
)

// The end record of a ZIP (APPNOTE 4.3.16): its length without, and the greatest length of, the comment that ends it.
const (
	archiveEnd       = "PK\x05\x06"
	archiveEndLength = 22
	archiveComment   = 1<<16 - 1
)

// isArchive finds the end record of a ZIP, which readers look for from the back: one whose comment reaches exactly to the
// end of the file makes the file an archive, whatever it starts with.
func isArchive(file []byte) bool {
	tail := file[max(0, len(file)-archiveEndLength-archiveComment):]
	for end := len(tail); end > 0; {
		at := bytes.LastIndex(tail[:end], []byte(archiveEnd))
		if at < 0 {
			return false
		}
		if record := tail[at:]; len(record) >= archiveEndLength {
			comment := binary.LittleEndian.Uint16(record[archiveEndLength-2:])
			if len(record) == archiveEndLength+int(comment) {
				return true
			}
		}
		end = at
	}
	return false
}
