package rest

import (
	"net/http"
	"strings"
)

// plainPath gives a request the path that the router compares: a percent-encoded unreserved character means the character (RFC 3986
// §6.2.2.2). A path that other servers would clean up, with empty or dot segments, becomes one that does not exist.
func plainPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !plain(r.URL.Path):
			r.URL.Path, r.URL.RawPath = "/", "/"
		case r.URL.RawPath != "":
			r.URL.RawPath = decodeUnreserved(r.URL.RawPath)
		}
		next.ServeHTTP(w, r)
	})
}

func plain(path string) bool {
	if strings.Contains(path, "//") {
		return false
	}
	for ahead := path; ; {
		at := strings.Index(ahead, "/.")
		if at < 0 {
			return true
		}
		ahead = ahead[at+1:]
		if segment, _, _ := strings.Cut(ahead, "/"); segment == "." || segment == ".." {
			return false
		}
	}
}

// decodeUnreserved decodes the unreserved characters of a valid encoded path and leaves all other escapes as they are.
func decodeUnreserved(path string) string {
	var decoded strings.Builder
	for {
		before, after, found := strings.Cut(path, "%")
		decoded.WriteString(before)
		if !found {
			return decoded.String()
		}
		if c := fromHex(after[0])<<4 | fromHex(after[1]); unreserved(c) {
			decoded.WriteByte(c)
		} else {
			decoded.WriteString("%" + after[:2])
		}
		path = after[2:]
	}
}

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// fromHex is the value of a hexadecimal digit, which net/url has checked.
func fromHex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	default:
		return c - 'a' + 10
	}
}
