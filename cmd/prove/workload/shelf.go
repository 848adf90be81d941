package workload

import (
	"math/rand/v2"
	"slices"
	"sync"
)

// shelf is a concurrent list of records that several agents share. Each record guards its own members.
type shelf[T any] struct {
	mu  sync.Mutex
	all []T
}

func (s *shelf[T]) add(thing T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, thing)
}

// findOrAdd returns the record that fits, and adds another one if none does.
func (s *shelf[T]) findOrAdd(fits func(T) bool, other T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.all, fits); i >= 0 {
		return s.all[i]
	}
	s.all = append(s.all, other)
	return other
}

// list returns the records that fit.
func (s *shelf[T]) list(fits func(T) bool) []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.all), func(thing T) bool { return !fits(thing) })
}

// remove removes the records that fit.
func (s *shelf[T]) remove(fits func(T) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = slices.DeleteFunc(s.all, fits)
}

// draw returns one of the newest records that fit; ok is false if none fits.
func (s *shelf[T]) draw(random *rand.Rand, fits func(T) bool) (thing T, ok bool) {
	found := s.list(fits)
	if len(found) == 0 {
		return thing, false
	}
	const newest = 8
	return one(random, found[max(0, len(found)-newest):]), true
}

func every[T any](T) bool { return true }

func one[T any](random *rand.Rand, all []T) T { return all[random.IntN(len(all))] }

// weighted is an action with its frequency.
type weighted[T any] struct {
	weight int
	do     T
}

// drawn draws one by the weights.
func drawn[T any](random *rand.Rand, all []weighted[T]) T {
	total := 0
	for _, row := range all {
		total += row.weight
	}
	n, i := random.IntN(total), 0
	for ; n >= all[i].weight; i++ {
		n -= all[i].weight
	}
	return all[i].do
}
