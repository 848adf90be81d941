package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseReport(t *testing.T) {
	t.Parallel()
	functions, err := parseReport([]byte("# a comment\n\n"+
		"40         \tpostgres             \t[.] hash_search\n"+
		"30         \t[kernel.kallsyms]    \t[k] finish_task_switch.isra.0\n"+
		"20         \tpostgres             \t[.] 0x000000000058ad9e\n"+
		"6          \t/usr/lib/libc.so.6   \t[.] 0x0000000000012345\n"+
		"4          \t/usr/lib/libc.so.6   \t[.] 0x0000000000012346\n"), symbols{})
	require.NoError(t, err)
	require.Equal(t, []Function{
		{"hash_search", "postgres", 0.4}, {"finish_task_switch.isra.0", "[kernel.kallsyms]", 0.3}, {nameless, "postgres", 0.2},
		{nameless, "libc.so.6", 0.1},
	}, functions)
	files := Files(functions)
	require.Equal(t, "postgres", files[0].File)
	require.InDelta(t, 0.6, files[0].Part, 1e-9)

	_, err = parseReport([]byte("many\tpostgres\t[.] hash_search\n"), symbols{})
	require.Error(t, err)
}

// A function without a name is named by those around it.
func TestNamelessFunctions(t *testing.T) {
	t.Parallel()
	s := symbols{}
	s.all = append(s.all, symbolAt("first", 0x2000), symbolAt("second", 0x3000))
	s.loads = append(s.loads, loadOf(0x100, 0x2000, 0x2000))
	for offset, want := range map[string]string{
		"0x100": "first", "0x180": "(first … second)", "0x1200": nameless, "0x50": nameless, "what": nameless,
	} {
		require.Equal(t, want, s.around(offset), offset)
	}
}

// The symbols of a program with libraries can be read.
func TestReadSymbols(t *testing.T) {
	t.Parallel()
	s, err := readSymbols("/bin/sh")
	require.NoError(t, err)
	require.NotEmpty(t, s.loads)
	_, err = readSymbols("/etc/passwd")
	require.Error(t, err)
}
