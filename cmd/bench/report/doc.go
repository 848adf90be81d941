// Package report turns measurements into docs/benchmarks.md and into files that benchstat reads. It is pure but for Write.
package report
