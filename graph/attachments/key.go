package attachments

import (
	"path"
	"strings"

	"github.com/google/uuid"
)

// prefix of every key of this domain in the store.
const prefix = "attachments/"

// The versions of a file.
const (
	original  = "original"
	preview   = "preview"
	published = "published"
)

// keyOf spreads files over 256 folders by the random end of their ids.
func keyOf(id uuid.UUID, version string) string {
	name := id.String()
	return prefix + name[len(name)-2:] + "/" + name + "." + version
}

func originalKey(id uuid.UUID) string  { return keyOf(id, original) }
func previewKey(id uuid.UUID) string   { return keyOf(id, preview) }
func publishedKey(id uuid.UUID) string { return keyOf(id, published) }

func keysOf(id uuid.UUID) []string {
	return []string{originalKey(id), previewKey(id), publishedKey(id)}
}

// ownerOfKey is the file that a stored object belongs to; unfinished objects carry its id too.
func ownerOfKey(key string) (uuid.UUID, error) {
	id, _, _ := strings.Cut(path.Base(key), ".")
	return uuid.Parse(id)
}
