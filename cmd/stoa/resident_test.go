package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const someMappings = `00400000-00403000 r--p 00000000 fe:00 9994594    /opt/stoa bin/stoa
Size:                 12 kB
Anonymous:             0 kB
VmFlags: rd mr mw me
00403000-02044000 r-xp 00003000 fe:00 9994594    /opt/stoa bin/stoa
Anonymous:             0 kB
AnonHugePages:         0 kB
03cc8000-03cc9000 r--p 038c7000 fe:00 9994594    /opt/stoa bin/stoa
Anonymous:             4 kB
03cc9000-03de2000 rw-p 038c8000 fe:00 9994594    /opt/stoa bin/stoa
Anonymous:             0 kB
c000000000-c000400000 r--p 00000000 00:00 0
Anonymous:             0 kB
7f0000000000-7f0000007000 r--s 00000000 fe:00 77   /usr/lib/gconv/gconv-modules.cache
Anonymous:             0 kB
7ffd1c5f2000-7ffd1c5f4000 r-xp 00000000 00:00 0    [vdso]
Anonymous:             0 kB
7f1111000000-7f1111001000 r-xp 00000000 fe:00 78
Anonymous:             0 kB
`

func TestFileCopies(t *testing.T) {
	t.Parallel()
	copies, err := fileCopies(strings.NewReader(someMappings))
	require.NoError(t, err)
	require.Equal(t, []mapping{{0x400000, 0x403000}, {0x403000, 0x2044000}, {0x7f1111000000, 0x7f1111001000}}, copies)

	_, err = fileCopies(strings.NewReader("zz-yy r-xp 00000000 fe:00 78 /lib\n"))
	require.Error(t, err)
}

// A process that has shrunk goes on, and holds less of its program than before.
func TestShrink(t *testing.T) {
	t.Parallel()
	require.NoError(t, shrink())
	require.NoError(t, shrink(), "again, with the pieces there are")
	file, err := os.Open("/proc/self/smaps")
	require.NoError(t, err)
	defer file.Close()
	copies, err := fileCopies(file)
	require.NoError(t, err)
	for _, m := range copies {
		require.LessOrEqual(t, m.end-m.start, uintptr(neighbours))
	}
}

func TestMemoryIsGivenBackOnceAfterWork(t *testing.T) {
	t.Parallel()
	var at effort
	total := uint64(0)
	for i, step := range []struct {
		allocated uint64
		rests     bool
	}{{little, false}, {little + 1, false}, {10 * little, false}, {little, true}, {0, false}, {2 * little, false}, {0, true}} {
		total += step.allocated
		require.Equal(t, step.rests, at.rests(total), "look %d", i+1)
	}
}
