module example.com/go-operator

go 1.24
