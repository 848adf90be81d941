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

func TestADisplayNameIsNoHandle(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"@ada", "Ada @ home", "＠ada", "﹫ada", "ⓐda", "Ⓐda", "a\u20ddda", "🅐da", "🄰da", "⒜da", "a\u20e3da", "\U000E0040ada"} {
		require.Error(t, text.WithoutAt(name), name)
	}
	for _, name := range []string{"Ada", "ada at home", "Адa", "A&B", "今日", "Ä", "ª"} {
		require.NoError(t, text.WithoutAt(name), name)
	}
}

func TestLookAlikes(t *testing.T) {
	t.Parallel()
	member := text.Names{Handle: "maria_ill", DisplayName: "Paypal Help"}
	lineup := text.NewLineup([]*text.Names{{Handle: "other", DisplayName: "Other"}, &member, {Handle: "ada", DisplayName: "Otto"}})
	for _, alike := range []text.Names{
		{Handle: "x", DisplayName: "maria_ill"}, {Handle: "x", DisplayName: "MARIA_ILL"}, {Handle: "x", DisplayName: "rnaria_i11"},
		{Handle: "rnaria_ill", DisplayName: "x"}, {Handle: "x", DisplayName: "PayPaI HeIp"}, {Handle: "x", DisplayName: "Pаурal Help"},
		{Handle: "x", DisplayName: "Pay\u200bpal  Help"}, {Handle: "x", DisplayName: "𝔭𝒶𝓎𝕡𝕒ℓ help"}, {Handle: "paypalhelp", DisplayName: "x"},
		{Handle: "maria_il", DisplayName: "x"}, {Handle: "maria_illi", DisplayName: "x"}, {Handle: "mario_ill", DisplayName: "x"},
		{Handle: "xmaria_ill", DisplayName: "x"}, {Handle: "x", DisplayName: "Märia_ill"}, {Handle: "x", DisplayName: "Paypal Help ✓"},
		{Handle: "x", DisplayName: "Ｐaypal (Help)."}, {Handle: "x", DisplayName: "Paypa\u0301l Help"}, {Handle: "x", DisplayName: "Paypal\uFFFC Help"},
		{Handle: "x", DisplayName: "ᴘᴀʏᴘᴀʟ ʜᴇʟᴘ"}, {Handle: "x", DisplayName: "Paypal\u1AB0 Help\u20E3\u0489"}, {Handle: "x", DisplayName: "Pаypal Hełp"},
	} {
		require.Equal(t, []string{"maria_ill"}, lineup.Resembled(alike, 3), alike)
	}
	for _, different := range []text.Names{
		member, {Handle: "mara_il", DisplayName: "Paypal"}, {Handle: "adam", DisplayName: "Help"}, {Handle: "maira_ill", DisplayName: "Paypal Help 2"},
	} {
		require.Empty(t, lineup.Resembled(different, 3), different)
	}
	now := time.Now()
	older := func(d time.Duration) text.Names {
		return text.Names{Handle: "maria_ill", CreatedAt: now.Add(-d)}
	}
	before, after := older(2*time.Hour), older(time.Hour)
	after.Handle = "mario_ill"
	require.Empty(t, text.NewLineup([]*text.Names{&after}).Resembled(before, 3), "it had its handle before")
	require.Len(t, text.NewLineup([]*text.Names{&before}).Resembled(after, 3), 1)
	for _, name := range []string{"M", "龙", "🦊🦊", "★★★", "C++", "?"} { // without their signs they are too short to be told apart
		copied := text.Names{Handle: "pia", DisplayName: name}
		require.Equal(t, []string{"ada"}, text.NewLineup([]*text.Names{{Handle: "ada", DisplayName: name}}).Resembled(copied, 3), name)
		for _, other := range []string{"N", "虎", "🦊🐻", "★★", "C#", "!"} {
			require.Empty(t, text.NewLineup([]*text.Names{{Handle: "ada", DisplayName: other}}).Resembled(copied, 3), name)
		}
	}
	many := text.NewLineup([]*text.Names{{Handle: "robot_1"}, {Handle: "robot_2"}, {Handle: "robot_3"}, {Handle: "robot_4"}})
	require.Equal(t, []string{"robot_1", "robot_2", "robot_4"}, many.Resembled(text.Names{Handle: "robot_3", DisplayName: "x"}, 3))
}

// Handles are near exactly if one change of one character makes them equal.
func TestNearHandles(t *testing.T) {
	t.Parallel()
	letters := rapid.StringOfN(rapid.RuneFrom([]rune("ab")), 3, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		one, other := letters.Draw(t, "one"), letters.Draw(t, "other")
		want := len(one) >= 5 && len(other) >= 5 && distance(one, other) == 1
		found := text.NewLineup([]*text.Names{{Handle: one, DisplayName: "x"}}).Resembled(text.Names{Handle: other, DisplayName: "y"}, 3)
		require.Equal(t, want, len(found) == 1, "%s %s", one, other)
	})
}

// distance is the edit distance of two texts.
func distance(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	if strings.HasPrefix(a, b[:1]) {
		return distance(a[1:], b[1:])
	}
	return 1 + min(distance(a[1:], b), distance(a, b[1:]), distance(a[1:], b[1:]))
}
