package workload

import (
	"math/rand/v2"
	"slices"
	"sync"
)

// shelf holds things that several agents deal with. It is safe for concurrent use; what is in a thing its own lock must guard.
type shelf[T any] struct {
	mu  sync.Mutex
	all []T
}

func (s *shelf[T]) add(thing T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, thing)
}

// list returns the things that fit.
func (s *shelf[T]) list(fits func(T) bool) []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.all), func(thing T) bool { return !fits(thing) })
}

// draw returns one of the newest things that fit; ok is false if no thing fits.
func (s *shelf[T]) draw(random *rand.Rand, fits func(T) bool) (thing T, ok bool) {
	found := s.list(fits)
	if len(found) == 0 {
		return thing, false
	}
	const newest = 8
	found = found[max(0, len(found)-newest):]
	return found[random.IntN(len(found))], true
}
