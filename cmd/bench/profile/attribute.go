package profile

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// Share is the part that something has of all samples, from 0 to 1.
type Share struct {
	Name string
	Part float64
	// Of says what it mostly consists of, or belongs to: the largest parts, as parts of all samples.
	Of []Share
}

// Split is a profile by layers and by functions, the largest share first.
type Split struct {
	// Layers have the functions in which the samples were attributed to them. Functions are those that ran, with the layers for
	// which they did.
	Layers, Functions []Share
}

// mostOf is how many parts of a share are kept.
const mostOf = 3

// The types of samples that are split.
const (
	Processor = "cpu"
	Objects   = "alloc_objects"
	Bytes     = "alloc_space"
)

// Read splits a profile by its samples of one type.
func Read(from io.Reader, sampleType string) (Split, error) {
	p, err := profile.Parse(from)
	if err != nil {
		return Split{}, fmt.Errorf("profile: %w", err)
	}
	index := slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == sampleType })
	if index < 0 {
		return Split{}, fmt.Errorf("profile: it has no samples of the type %s", sampleType)
	}
	layers, functions := make(counts), make(counts)
	for _, sample := range p.Sample {
		frames := framesOf(sample)
		if len(frames) == 0 || slices.ContainsFunc(frames, isProfiler) {
			continue
		}
		layer, by := attribute(frames)
		value := float64(sample.Value[index])
		layers.add(layer, shorten(by), value)
		functions.add(shorten(frames[0].Name), layer, value)
	}
	total := layers.total()
	return Split{Layers: layers.shares(total), Functions: functions.shares(total)}, nil
}

// framesOf lists the functions on a stack, the innermost first, inlined ones included.
func framesOf(sample *profile.Sample) (frames []*profile.Function) {
	for _, location := range sample.Location {
		for _, line := range location.Line {
			if line.Function != nil {
				frames = append(frames, line.Function)
			}
		}
	}
	return frames
}

// isProfiler reports whether a function makes profiles, whose own cost is not counted.
func isProfiler(f *profile.Function) bool {
	return slices.Contains([]string{"runtime/pprof", "net/http/pprof"}, packageOf(f.Name))
}

// attribute returns the layer of a stack, and the function that decides it.
func attribute(frames []*profile.Function) (layer, by string) {
	for _, frame := range frames {
		if layer, found := layerOf(packageOf(frame.Name), path.Base(frame.Filename)); found {
			return layer, frame.Name
		}
	}
	for _, frame := range frames {
		if isCollector(frame.Name) {
			return Collector, frame.Name
		}
	}
	return Scheduler, frames[len(frames)-1].Name
}

// collectors are the functions below which the runtime collects garbage and gives memory back.
var collectors = []string{"runtime.gc", "runtime.bgsweep", "runtime.bgscavenge", "runtime.(*gc"}

func isCollector(function string) bool {
	return slices.ContainsFunc(collectors, func(prefix string) bool { return strings.HasPrefix(function, prefix) })
}

// shorten leaves out the folders of a function's package.
func shorten(function string) string {
	name, arguments, _ := strings.Cut(function, "[")
	if arguments != "" {
		arguments = "[…]" + arguments[strings.LastIndexByte(arguments, ']')+1:]
	}
	return name[strings.LastIndexByte(name, '/')+1:] + arguments
}

// counts are sums by name and part.
type counts map[string]map[string]float64

func (c counts) add(name, part string, value float64) {
	if c[name] == nil {
		c[name] = make(map[string]float64)
	}
	c[name][part] += value
}

func (c counts) total() (sum float64) {
	for _, parts := range c {
		for _, value := range parts {
			sum += value
		}
	}
	return sum
}

// shares returns the sums as parts of a total, the largest first.
func (c counts) shares(total float64) []Share {
	all := make([]Share, 0, len(c))
	for name, parts := range c {
		share := Share{Name: name}
		for part, value := range parts {
			share.Part += value / max(total, 1)
			share.Of = append(share.Of, Share{Name: part, Part: value / max(total, 1)})
		}
		slices.SortFunc(share.Of, larger)
		share.Of = share.Of[:min(mostOf, len(share.Of))]
		all = append(all, share)
	}
	slices.SortFunc(all, larger)
	return all
}

func larger(a, b Share) int { return cmp.Or(cmp.Compare(b.Part, a.Part), cmp.Compare(a.Name, b.Name)) }

// Parts are the shares by name.
func Parts(shares []Share) map[string]float64 {
	return maps.Collect(func(yield func(string, float64) bool) {
		for _, share := range shares {
			if !yield(share.Name, share.Part) {
				return
			}
		}
	})
}
