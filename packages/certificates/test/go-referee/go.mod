module konverge.dev/certificates-referee

go 1.26
