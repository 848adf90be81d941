package orders_test

import (
	"sync/atomic"
	"testing"

	"stoa/graph/graphtest"
	"stoa/graph/orders"
)

// BenchmarkCycle is the life of an order from offer to payment: five operations.
func BenchmarkCycle(b *testing.B) {
	w := graphtest.New(b)
	var pairs atomic.Int64
	tables := make([]*table, 8)
	for i := range tables {
		tables[i] = &table{World: w, t: b, customer: w.Agent(), contractor: w.Agent()}
		tables[i].contact = w.Befriend(tables[i].customer, tables[i].contractor)
		w.Exec("UPDATE accounts SET available_minor = 1000000000000000")
	}
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		s := tables[int(pairs.Add(1))%len(tables)]
		for pb.Next() {
			card := s.act(s.contractor, s.offer(true), orders.Accept)
			card = s.act(s.contractor, s.act(s.contractor, card, orders.Start), orders.Deliver)
			s.act(s.customer, card, orders.Complete)
		}
	})
	b.ReportMetric(float64(b.N*5)/b.Elapsed().Seconds(), "operations/s")
}

// BenchmarkRepeat is an accept whose answer was lost.
func BenchmarkRepeat(b *testing.B) {
	s := newTable(b)
	in := command(s.offer(true), orders.Accept)
	for b.Loop() {
		if _, err := s.Orders.OrderAct(s.contractor.Ctx, in); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMyOrders is the first page of a busy agent's list.
func BenchmarkMyOrders(b *testing.B) {
	s := newTable(b)
	for range 100 {
		s.offer(true)
	}
	for b.Loop() {
		if _, err := s.Orders.MyOrders(s.contractor.Ctx, orders.ListInput{}); err != nil {
			b.Fatal(err)
		}
	}
}
