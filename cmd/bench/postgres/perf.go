package postgres

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrNoPerf says that the program is missing, and how to install it.
var ErrNoPerf = errors.New("perf is missing, which records where PostgreSQL's time goes; on Debian: apt-get install linux-perf")

// FindPerf returns ErrNoPerf unless perf can be started.
func FindPerf() error {
	if _, err := exec.LookPath("perf"); err != nil {
		return ErrNoPerf
	}
	return nil
}

// Function is a function of PostgreSQL's program, a library or the kernel, with its part of the samples, from 0 to 1.
type Function struct {
	Name string
	// File is the one that has it, such as postgres, libc.so.6 or [kernel.kallsyms].
	File string
	Part float64
}

// sampleRate is how often a second a running process is looked at. It is no divisor of the rate of usual timers.
const sampleRate = "997"

// Record samples processes and their later children for a while, by the clock of the processor, since virtual machines seldom
// have hardware counters. The first process is the postmaster. The samples are kept in a file. The functions with most samples
// come first.
func Record(ctx context.Context, processes []int, length time.Duration, file string) ([]Function, error) {
	pids := make([]string, len(processes))
	for i, pid := range processes {
		pids[i] = strconv.Itoa(pid)
	}
	known, err := readSymbols("/proc/" + pids[0] + "/exe")
	if err != nil {
		return nil, err
	}
	seconds := strconv.FormatFloat(length.Seconds(), 'f', 2, 64)
	if _, err := perf(ctx, "record", "--quiet", "--event", "cpu-clock", "--freq", sampleRate, "--pid", strings.Join(pids, ","),
		"--output", file, "--", "sleep", seconds); err != nil {
		return nil, err
	}
	report, err := perf(ctx, "report", "--stdio", "--quiet", "--input", file, "--fields", "sample,dso,sym", "--field-separator", "\t")
	if err != nil {
		return nil, err
	}
	return parseReport(report, known)
}

func perf(ctx context.Context, args ...string) ([]byte, error) {
	var failure bytes.Buffer
	command := exec.CommandContext(ctx, "perf", args...)
	command.Stderr = &failure
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("perf %s: %w: %s", args[0], err, bytes.TrimSpace(failure.Bytes()))
	}
	return out, err
}

// program is the file name of PostgreSQL's program.
const program = "postgres"

// parseReport reads lines of samples, file and symbol, such as "12\tpostgres\t[.] hash_search".
func parseReport(report []byte, known symbols) ([]Function, error) {
	counts, total := make(map[Function]float64), 0.0
	for line := range strings.Lines(string(report)) {
		fields := strings.SplitN(line, "\t", 3)
		if len(fields) < 3 || strings.HasPrefix(line, "#") {
			continue
		}
		samples, err := strconv.ParseFloat(strings.TrimSpace(fields[0]), 64)
		if err != nil {
			return nil, fmt.Errorf("postgres: perf reports %q: %w", line, err)
		}
		f := Function{File: filepath.Base(strings.TrimSpace(fields[1]))}
		_, f.Name, _ = strings.Cut(strings.TrimSpace(fields[2]), "] ")
		switch {
		case !strings.HasPrefix(f.Name, "0x"):
		case f.File == program:
			f.Name = known.around(f.Name)
		default:
			f.Name = nameless
		}
		counts[f] += samples
		total += samples
	}
	functions := make([]Function, 0, len(counts))
	for f, samples := range counts {
		f.Part = samples / total
		functions = append(functions, f)
	}
	slices.SortFunc(functions, larger)
	return functions, nil
}

func larger(a, b Function) int {
	return cmp.Or(cmp.Compare(b.Part, a.Part), cmp.Compare(a.File, b.File), cmp.Compare(a.Name, b.Name))
}

// Files sums up functions by file, the most first.
func Files(functions []Function) []Function {
	var files []Function
	for _, f := range functions {
		at := slices.IndexFunc(files, func(o Function) bool { return o.File == f.File })
		if at < 0 {
			at = len(files)
			files = append(files, Function{File: f.File})
		}
		files[at].Part += f.Part
	}
	slices.SortFunc(files, larger)
	return files
}
