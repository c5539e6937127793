module github.com/konverge/konverge/packages/envtest-go

go 1.24
