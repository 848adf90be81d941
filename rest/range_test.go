package rest

import (
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRangeOf(t *testing.T) {
	t.Parallel()
	const size = 100
	for sent, want := range map[string]string{
		"bytes=0-9":                        "bytes=0-9",
		"Bytes= 0-9 ,\t5-":                 "bytes=0-9,5-99",
		"bytes=90-1000":                    "bytes=90-99",
		"bytes=90-99999999999999999999999": "bytes=90-99",
		"bytes=-5":                         "bytes=95-99",
		"bytes=-500":                       "bytes=0-99",
		"bytes=-0":                         "bytes=100-",
		"bytes=-0,1-1":                     "bytes=1-1",
		"bytes=100-":                       "bytes=100-",
		"bytes=99999999999999999999999-":   "bytes=100-",
		"bytes=200-300,1-2":                "bytes=1-2",
		"bytes=0007-0008":                  "bytes=7-8",
		"bytes=5-2":                        "",
		"bytes=0-1,5-2":                    "",
		"bytes=20000000000000000000-9":     "",
		"bytes=":                           "",
		"bytes=-":                          "",
		"bytes=a-b":                        "",
		"bytes=1":                          "",
		"bytes=+1-2":                       "",
		"pages=1-2":                        "",
		"bytes=0-0,1-1,2-2,3-3,4-4,5-5,6-6,7-7,8-8": "",
	} {
		for method, want := range map[string]string{http.MethodGet: want, http.MethodHead: ""} {
			r := httptest.NewRequest(method, "/", http.NoBody)
			r.Header.Set("Range", sent)
			require.Equal(t, want, satisfiableRanges(r, size), "%s %s", method, sent)
		}
	}
}

// http.ServeContent accepts any result of satisfiableRanges, and refuses it only if no byte of the file was requested.
func FuzzRangeOf(f *testing.F) {
	for _, sent := range []string{"bytes=0-9", "bytes=-5,3-", "bytes=5-2", "bytes=200-", "bytes=-0"} {
		f.Add(sent)
	}
	content := strings.Repeat("x", 100)
	f.Fuzz(func(t *testing.T, sent string) {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.Header["Range"] = []string{sent}
		ranges := satisfiableRanges(r, int64(len(content)))
		want := map[int]bool{http.StatusPartialContent: true, http.StatusOK: true} // 200 if overlapping ranges are longer than the file
		switch ranges {
		case "":
			want = map[int]bool{http.StatusOK: true}
			r.Header.Del("Range")
		case "bytes=100-":
			want = map[int]bool{http.StatusRequestedRangeNotSatisfiable: true}
			fallthrough
		default:
			r.Header.Set("Range", ranges)
		}
		w := httptest.NewRecorder()
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(content))
		require.Contains(t, want, w.Code, "%q became %q", sent, ranges)
	})
}

func TestNumbersOfRanges(t *testing.T) {
	t.Parallel()
	require.EqualValues(t, math.MaxInt64, parseSaturating("9223372036854775808"))
	require.True(t, lessDecimal("007", "8"))
	require.False(t, lessDecimal("10", "9"))
	require.False(t, lessDecimal("9", "09"))
}

// Decoding unreserved characters keeps the meaning of a path, and a second decoding changes nothing.
func FuzzDecodeUnreserved(f *testing.F) {
	for _, path := range []string{"/w%61llet", "/%2F%2f", "/%25%36%31", "/%C3%A9/%7E"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		meant, err := url.PathUnescape(path)
		if err != nil {
			t.Skip()
		}
		decoded := decodePlain(path)
		still, err := url.PathUnescape(decoded)
		require.NoError(t, err)
		require.Equal(t, meant, still)
		require.Equal(t, decoded, decodePlain(decoded))
	})
}
