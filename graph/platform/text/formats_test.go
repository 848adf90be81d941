package text_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/platform/text"
)

func TestHandle(t *testing.T) {
	t.Parallel()
	for s, ok := range map[string]bool{
		"ada": true, "a_1": true, "a__": true, "a" + strings.Repeat("9", 31): true,
		"": false, "ab": false, "a" + strings.Repeat("9", 32): false, "1ab": false, "_ab": false, "Ada": false,
		"ada ": false, " ada": false, "ada\n": false, "a-b": false, "a.b": false, "adä": false, "ada\x00": false, "ad\xff": false,
	} {
		if err := text.Handle(s); ok {
			require.NoError(t, err, "%q", s)
		} else {
			require.EqualError(t, err, "must be 3 to 32 characters: a lower-case letter, then lower-case letters, digits or _", "%q", s)
		}
	}
}

func TestWrittenHandle(t *testing.T) {
	t.Parallel()
	for written, handle := range map[string]string{
		"ada": "ada", "@ada": "ada", "ADA": "ada", "@Ada_1": "ada_1",
		"": "", "@": "", "@@ada": "", " ada": "", "ada ": "", "ad": "", "1ada": "", "ad%": "",
		"\u212aai": "", // the Kelvin sign, whose lower case is k
		"ADÄ":      "",
	} {
		require.Equal(t, handle, text.WrittenHandle(written), "%q", written)
	}
}

func TestReserved(t *testing.T) {
	t.Parallel()
	for s := range strings.FieldsSeq("admin operator system support stoa root api me null undefined admin1 stoa_support stoa_ my_stoa official_x x2verified3") {
		require.True(t, text.Reserved(s), s)
	}
	for s := range strings.FieldsSeq("ada ADMIN administrator stoasupport official insecurity_1") {
		require.False(t, text.Reserved(s), s)
	}
}

func TestUUID(t *testing.T) {
	t.Parallel()
	const id = "019b0000-abcd-7000-8000-00000000000f"
	for s, ok := range map[string]bool{
		id: true, strings.ToUpper(id): true, "019B0000-abcd-7000-8000-00000000000F": true,
		"00000000-0000-0000-0000-000000000000": true,

		"": false, id[1:]: false, id + "0": false, "{" + id + "}": false, "urn:uuid:" + id: false,
		strings.ReplaceAll(id, "-", ""): false, " " + id[1:]: false, id[:35] + "g": false, id[:35] + "\n": false,
		"019b0000abcd-7000-8000-00000000000f-": false, "019b0000-abcd-7000-8000-0000000000é": false,
	} {
		got, err := text.UUID(s)
		if ok {
			require.NoError(t, err, "%q", s)
			require.Equal(t, strings.ToLower(s), got.String())
		} else {
			require.EqualError(t, err, "must be a UUID of 8-4-4-4-12 hexadecimal digits", "%q", s)
			require.Equal(t, uuid.Nil, got)
		}
	}
}

func TestBase64(t *testing.T) {
	t.Parallel()
	const malformed = "must be canonical padded standard base64"
	for s, want := range map[string]string{
		"+/8=": "", "YWI=": "", "YWJj": "", "YWJjZA==": "", // 2 to 4 bytes
		"": "must be the base64 of 2 to 4 bytes; got 0", "YQ==": "must be the base64 of 2 to 4 bytes; got 1",
		"YWJjZGU=": "must be the base64 of 2 to 4 bytes; got 5",
		"YWJjZGVm": "must be the base64 of 2 to 4 bytes; got 6", "YWJjZGVmZw==": "must be the base64 of 2 to 4 bytes; got more",
		"YWI": malformed, "YWJ=": malformed, "YQ=": malformed, "-_8=": malformed, "YW\nI=": malformed, "YWI=\n": malformed,
		"YWI=\r\n": malformed, " YWI=": malformed, "YWI=YWI=": malformed, "====": malformed, "YWIé": malformed,
	} {
		got, err := text.Base64(s, 2, 4)
		if want != "" {
			require.EqualError(t, err, want, "%q", s)
			require.Nil(t, got)
			continue
		}
		require.NoError(t, err, "%q", s)
		require.Equal(t, s, base64.StdEncoding.EncodeToString(got))
	}
	_, err := text.Base64("YWI=", 24, 24)
	require.EqualError(t, err, "must be the base64 of exactly 24 bytes; got 2")
}

func TestTime(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"2026-11-21T02:03:04Z":              "2026-11-21T02:03:04Z",
		"2026-11-21t02:03:04z":              "2026-11-21T02:03:04Z",
		"2026-11-21T02:03:04.000005Z":       "2026-11-21T02:03:04.000005Z",
		"2026-11-21T02:03:04.9999999Z":      "2026-11-21T02:03:04.999999Z",
		"2026-11-21T02:03:04.123456789012Z": "2026-11-21T02:03:04.123456Z",
		"2026-11-21T02:03:04.5+03:00":       "2026-11-20T23:03:04.5Z",
		"2026-11-21T02:03:04-23:59":         "2026-11-22T02:02:04Z",
		"2026-11-21T02:03:04-00:00":         "2026-11-21T02:03:04Z",
		"2028-02-29T23:59:59Z":              "2028-02-29T23:59:59Z",
		"9999-12-31T23:59:59.999999999Z":    "9999-12-31T23:59:59.999999Z",
		"0000-01-01T00:00:00Z":              "0000-01-01T00:00:00Z",
	} {
		got, err := text.Time(s)
		require.NoError(t, err, "%q", s)
		require.Equal(t, want, got.Format(time.RFC3339Nano))
		require.Equal(t, time.UTC, got.Location())
	}
	for _, s := range []string{
		"", "2026-11-21", "2026-11-21T02:03Z", "2026-11-21T02:03:04", "2026-11-21 02:03:04Z", "2026-11-21T02:03:04 Z",
		"2026-11-21T2:03:04Z", "2026-11-21T02:03:04,5Z", "2026-11-21T02:03:04.Z", "2026-11-21T02:03:60Z",
		"2016-12-31T23:59:60Z", "2026-11-21T24:00:00Z", "2026-02-30T00:00:00Z", "2027-02-29T00:00:00Z",
		"2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-11-00T00:00:00Z", "2026-11-21T02:03:04+24:00",
		"2026-11-21T02:03:04+03:60", "2026-11-21T02:03:04+0300", "2026-11-21T02:03:04+03", "2026-11-21T02:03:04UTC",
		"10000-01-01T00:00:00Z", "+2026-11-21T02:03:04Z", "-2026-11-21T02:03:04Z", "20261121T020304Z", "1795226584",
		" 2026-11-21T02:03:04Z", "2026-11-21T02:03:04Z\n", "2026-11-21T02:03:04Z[UTC]", "２026-11-21T02:03:04Z", "\xff",
	} {
		_, err := text.Time(s)
		require.EqualError(t, err, "must be an RFC 3339 time with an offset, such as 2026-11-21T02:03:04Z", "%q", s)
	}
	for _, s := range []string{"9999-12-31T23:59:59-00:01", "0000-01-01T00:00:00+00:01"} {
		_, err := text.Time(s)
		require.EqualError(t, err, "must lie in the years 0000 to 9999 UTC", "%q", s)
	}
}

func TestFormsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.Byte(), 0, 64).Draw(t, "bytes")
		got, err := text.Base64(base64.StdEncoding.EncodeToString(raw), len(raw), len(raw))
		require.NoError(t, err)
		require.Equal(t, raw, got)

		var id uuid.UUID
		copy(id[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		same, err := text.UUID(id.String())
		require.NoError(t, err)
		require.Equal(t, id, same)

		at := time.UnixMicro(rapid.Int64Range(-62167132800_000000, 253402214400_000000).Draw(t, "micros"))
		zone := time.FixedZone("", 60*rapid.IntRange(-1439, 1439).Draw(t, "zone"))
		read, err := text.Time(at.In(zone).Format(time.RFC3339Nano))
		require.NoError(t, err)
		require.True(t, at.Equal(read))
	})
}

func FuzzForms(f *testing.F) {
	for _, s := range []string{
		"019b0000-abcd-7000-8000-00000000000f", "{019b0000-abcd-7000-8000-00000000000f}", "YWI=", "YW\nI=", "ada_1",
		"2026-11-21T02:03:04.000005Z", "2026-11-21t2:03:04,5+24:00",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if id, err := text.UUID(s); err == nil {
			require.Equal(t, strings.ToLower(s), id.String())
		}
		if b, err := text.Base64(s, 0, 64); err == nil {
			require.Equal(t, s, base64.StdEncoding.EncodeToString(b))
		}
		if at, err := text.Time(s); err == nil {
			require.Zero(t, at.Nanosecond()%1000)
			again, err := text.Time(at.Format(time.RFC3339Nano))
			require.NoError(t, err)
			require.True(t, at.Equal(again))
		}
		if text.Handle(s) == nil {
			require.Equal(t, strings.ToLower(s), s)
			_, err := text.Line(s, 3, 32)
			require.NoError(t, err)
		}
	})
}
