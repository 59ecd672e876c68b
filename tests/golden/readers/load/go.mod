module load

go 1.21
